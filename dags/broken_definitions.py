"""No DAG: shows archive definitions that cannot be used as an import error in Airflow, while the others go on."""

from skyarchive.errors import DefinitionError
from skyarchive.orchestration.dags import broken_definitions

if faults := broken_definitions():
    raise DefinitionError("\n".join(faults))
