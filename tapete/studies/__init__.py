"""One file a paper: runs its experiments and prints its tables beside ours. Every module has a `run` and a `TITLE`."""
