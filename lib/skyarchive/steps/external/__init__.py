"""The records that no other record ever seen beats."""
