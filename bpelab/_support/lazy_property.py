"""An attribute that is worked out when it is first asked for, without a lock.

In Python 3.11 `functools.cached_property` holds one lock of the whole class meanwhile. A process that forks while
another of its threads is inside has a child in which nobody will ever let go of it, and which waits for ever. Here two
threads may work out the same value; both get the one that was there first.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import functools

    cached_property = functools.cached_property
else:

    class cached_property:
        """As functools has it from Python 3.12 on."""

        def __init__(self, func):
            self.func, self.__doc__ = func, func.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.name, self.func(instance))
