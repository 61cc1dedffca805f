"""The table in the browser: sit down and play, watch, replay and learn.

``table``     one game with those who sit at it: who may do what, and what each may see; knows no network
``store``     every table in one SQLite file, written before anybody is told
``thinking``  what an agent makes of a position, told to a person: from his View and nothing else
``room``      a table in memory, and who looks at it
``house``     all tables, who listens, and the agents' turns
``records``   finished games: replays, reviews, statistics
``making``    new tables, as people ask for them
``limits``    how much there may be of everything
``door``      who is let in
``server``    addresses and sockets
``serving``   the process
"""
