"""The table in the browser: sit down and play, watch, replay and learn.

``table``     one game with those who sit at it: who may do what, and what each may see; knows no network
``store``     every table in one SQLite file, written before anybody is told
``thinking``  what an agent makes of a position, told to a person: from his View and nothing else
``house``     all tables, the agents' turns, and limits
``records``   finished games: replays, reviews, statistics
``server``    addresses, sockets, cookies, and who is let in
"""
