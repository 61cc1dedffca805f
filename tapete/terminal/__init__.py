"""The table in a terminal: a scene drawn with characters, and a person who types moves."""
