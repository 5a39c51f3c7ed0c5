"""`cached_property` without a lock.

In Python 3.11 `functools.cached_property` holds one lock for the whole class while it computes. If a process forks
while another thread is inside, no thread of the child will ever release that lock, and the child hangs. Here
two threads may compute the same value; both get the one that was stored first.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import functools

    cached_property = functools.cached_property
else:

    class cached_property:
        """A cached property like that of functools from Python 3.12 on."""

        def __init__(self, func):
            self.func, self.__doc__ = func, func.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.name, self.func(instance))
