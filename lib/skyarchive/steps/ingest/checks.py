"""What raw rows must be like once the refused ones are taken out."""

from skyarchive.definition.model import Definition
from skyarchive.quality.suites import Suite, load_suite, suite_exists


def raw_suite(definition: Definition) -> Suite:
    """Built-in archives have checks of their own, which know their columns; others of the same name have others."""
    own = f"raw_{definition.name}"
    name = own if definition.is_built_in and suite_exists(own) else "raw"
    required = [column for column, spec in definition.columns.items() if spec.required and not definition.check_only]
    return load_suite(name, required=required)
