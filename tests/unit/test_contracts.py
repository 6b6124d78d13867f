"""The tables' contracts: what the schema files say, and how a difference is explained."""

import json

import pytest
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from skyarchive.definition.catalog import Catalog
from skyarchive.definition.model import Definition
from skyarchive.errors import SchemaError
from skyarchive.settings import Settings, schemas_folder
from skyarchive.store.contracts import TableContract, table_contract

ARCHIVES = ["nba", "stocks", "tcp", "synthetic"]
TABLES = sorted(path.stem for path in (schemas_folder() / "tables").glob("*.yaml"))
TYPES = {"string": StringType(), "bigint": LongType(), "double": DoubleType(), "boolean": BooleanType(),
         "timestamp": TimestampType(), "array<double>": ArrayType(DoubleType())}  # fmt: skip


def defined(archive: str) -> Definition:
    return Catalog(Settings(raw="no such folder")).get(archive)


def schema(columns: dict[str, str]) -> StructType:
    return StructType([StructField(name, TYPES[kind]) for name, kind in columns.items()])


@pytest.fixture
def updates() -> TableContract:
    return table_contract(defined("nba"), "updates")


COLUMNS = {
    "period": "string", "snapshot": "bigint", "object": "string", "points_per_minute": "double",
    "rebounds_per_minute": "double", "field_goal_ratio": "double", "gone": "boolean",
}  # fmt: skip


def test_a_table_holds_the_archives_attributes_in_their_place(updates: TableContract) -> None:
    assert list(updates.columns.items()) == list(COLUMNS.items())
    assert updates.required == {"period", "snapshot", "object", "gone"}
    assert updates.qualified == "nba.updates" and updates.partitioned
    fields = {field["name"]: field for field in json.loads(updates.delta_schema)["fields"]}
    assert list(fields) == list(COLUMNS)
    assert (fields["snapshot"]["type"], fields["snapshot"]["nullable"]) == ("long", False)
    assert (fields["points_per_minute"]["type"], fields["points_per_minute"]["nullable"]) == ("double", True)


def test_a_check_over_the_attributes_asks_each(updates: TableContract) -> None:
    check = updates.checks["gone_or_a_whole_position"]
    assert [f"(gone = ({name} is null))" in check for name in defined("nba").attribute_names] == [True] * 3
    assert check.count(" and ") == 2 and "{" not in check
    assert updates.checks["snapshot_from_zero"] == "snapshot >= 0"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gone": None}, ["gone (boolean) is missing"]),
        ({"colour": "string"}, ["colour (string) is not in the schema"]),
        ({"snapshot": "string"}, ["snapshot is string, must be bigint"]),
        ({"points_per_minute": "array<double>"}, ["points_per_minute is array<double>, must be double"]),
        ({"gone": None, "Gone": "boolean"}, ["gone (boolean) is missing", "Gone (boolean) is not in the schema"]),
        ({"object": "bigint", "period": None, "x": "double"},
         ["period (string) is missing", "x (double) is not in the schema", "object is bigint, must be string"]),
    ],
)  # fmt: skip
def test_a_difference_is_explained_column_by_column(
    change: dict[str, str | None], words: list[str], updates: TableContract
) -> None:
    found = {name: kind for name, kind in (COLUMNS | change).items() if kind is not None}
    with pytest.raises(SchemaError) as refusal:
        updates.compare(schema(found))
    message = str(refusal.value)
    assert message.startswith("nba.updates is not what its schema says: ")
    assert sorted(message.partition(": ")[2].removesuffix(".").split("; ")) == sorted(words)


def test_the_order_of_columns_is_no_difference(updates: TableContract) -> None:
    turned = dict(reversed(COLUMNS.items()))
    updates.compare(schema(turned))
    with pytest.raises(SchemaError, match="snapshot"):  # it is compared column by column all the same
        updates.compare(schema(turned | {"snapshot": "string"}))


def test_raw_holds_the_definitions_columns_and_the_readers() -> None:
    definition = defined("tcp")
    columns = table_contract(definition, "raw").columns
    own = {name: column.type for name, column in definition.columns.items()}
    assert list(columns) == ["period", "file", "row", *own, "log", "remote"]
    assert columns == {"period": "string", "file": "string", "row": "bigint", "log": "string", "remote": "string"} | own


@pytest.mark.parametrize(
    ("archive", "state"),
    [
        ("nba", {"games": "bigint", "total_points": "double", "total_minutes": "double", "total_rebounds": "double",
                 "total_field_goals_made": "double", "total_field_goals_attempted": "double"}),
        ("stocks", {"closes": "array<double>", "returns": "array<double>", "markets": "array<double>"}),
        ("tcp", {"pending": "array<struct<at:bigint,counts:array<bigint>>>"}),
        ("synthetic", {}),
    ],
)  # fmt: skip
def test_carry_holds_positions_and_the_methods_state(archive: str, state: dict[str, str]) -> None:
    definition = defined(archive)
    columns = table_contract(definition, "carry").columns
    own = {"period", "object", "next_snapshot", "last_time", "fingerprint"}
    assert {name: kind for name, kind in columns.items() if name in state} == state
    assert set(columns) == {*own, *definition.attribute_names, *state}


@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("table", TABLES)
def test_every_contract_is_whole(archive: str, table: str) -> None:
    contract = table_contract(defined(archive), table)
    assert contract.about and contract.required <= set(contract.columns)
    assert not [name for name in contract.columns if name.startswith("*")] and all(contract.columns.values())
    assert len({name.lower() for name in contract.columns}) == len(contract.columns)
    assert contract.partitioned == (table not in ("files", "refusals"))
    assert all("{" not in check for check in contract.checks.values())


def test_the_tables_of_the_design_have_their_columns() -> None:
    def columns(table: str) -> set[str]:
        return set(table_contract(defined("stocks"), table).columns)

    assert columns("snapshots") == {"period", "snapshot", "time", "label"}
    assert columns("updates") == {"period", "snapshot", "object", "beta", "slope", "gone"}
    assert columns("objects") == {"period", "object", "name"}
    assert columns("quarantine") == {"period", "file", "row", "reason", "record"}
    assert columns("quality") == {
        "period", "run_id", "table_name", "expectation", "success", "observed", "sample",
    }  # fmt: skip
    assert columns("runs") >= {
        "period", "run_id", "step", "started", "seconds", "rows_in", "rows_out", "input_versions", "output_versions",
        "parameters", "code_version",
    }  # fmt: skip
