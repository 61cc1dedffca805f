"""One folder a game. Adding a game is adding a folder: `docs/adding-a-game.md`."""
