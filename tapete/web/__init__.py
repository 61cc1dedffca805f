"""The table in the browser: sit down and play, watch, replay and learn.

``table``       one game with those who sit at it: who may do what, and what each may see; knows no network
``store``       every table in one SQLite file, written before anybody is told; ``migrations`` of older files
``room``        a table in memory, and who looks at it
``house``       all tables, and what they share
``doings``      what people do at a table
``turns``       the agents' turns; ``tempo``: how long their answers are held, so that time tells nothing
``thoughts``    what people are told of their own positions; ``thinking``: from their View and nothing else
``lines``       lines before the threads: everybody in turn
``memory``      how large trees may be
``readiness``   machine code is loaded before anybody waits for it, and compiled elsewhere; ``rehearsal``: by some moves
``records``     finished games: replays and statistics; ``reviews``
``catalogue``   what can be played; ``making``: new tables, as people ask for them
``limits``      how much there may be of everything
``door``        who is let in; ``guard``: connections and their clocks
``server``      addresses and sockets
``serving``     the process
"""
