"""The probable skylines of the records of the last while."""
