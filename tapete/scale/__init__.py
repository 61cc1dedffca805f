"""Work in parcels, done wherever there is room: here, on the cores of this machine, or on a Ray cluster.

A :class:`Job` is plain data, the name of a function and what it is handed; a parcel of it is a number or a few arrays.
What comes of a parcel depends on the job and on the parcel alone, so it may be done anywhere, and again if it was lost:
results are the same on every executor and with any number of workers. An algorithm hands its parcels to an
:class:`Executor`, and does not know which one it is.
"""

from tapete.scale.executor import EXECUTORS, Executor, given_or_local, open_executor
from tapete.scale.jobs import Job, Jobs
from tapete.scale.local import Local
from tapete.scale.serial import Serial

__all__ = ["EXECUTORS", "Executor", "Job", "Jobs", "Local", "Serial", "given_or_local", "open_executor"]
