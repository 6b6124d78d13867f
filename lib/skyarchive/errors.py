"""Errors whose text is a sentence a user can act on; the command line prints it and exits 1."""


class SkyarchiveError(Exception):
    """Anything the system refuses or fails to do, explained."""


class SettingError(SkyarchiveError):
    """A setting, name or argument that cannot be used."""


class DefinitionError(SkyarchiveError):
    """An archive definition (YAML) that cannot be used: names the file, the field and what is allowed."""


class InputError(SkyarchiveError):
    """Raw input that cannot be read or is not what the definition says."""


class SchemaError(SkyarchiveError):
    """A table or frame whose columns are not the contract's, explained column by column."""


class QualityError(SkyarchiveError):
    """A table fault: the step stopped and published nothing."""


class NotPublishedError(SkyarchiveError):
    """A step asked to build on something that is not published."""


class DamagedError(SkyarchiveError):
    """A table whose log or data cannot be read: names the table, the file and what mends it."""


class LockError(SkyarchiveError):
    """Another writer holds the archive."""


class SparkError(SkyarchiveError):
    """Spark is not there, or went away: later it may be."""


class MachineError(SkyarchiveError):
    """The machine is the matter, not what was asked of it: disk, rights, memory. Later it may not be."""
