"""The query behind the question who entered and who left the skyline."""

from skyarchive.answers.positions import directions
from skyarchive.definition.model import Definition


def changes_query(definition: Definition) -> str:
    """Entries and exits; who left is compared with the members of that snapshot, newcomers first."""
    schema = definition.name
    names = [f'"{name}"' for name in definition.attribute_names]
    signs = directions(definition)
    ours = [f"l.{name} * {sign:g}" for name, sign in zip(names, signs, strict=True)]
    theirs = [f"r.{name} * {sign:g}" for name, sign in zip(names, signs, strict=True)]
    nowhere_worse = " and ".join(f"{their} <= {our}" for our, their in zip(ours, theirs, strict=True))
    somewhere_better = " or ".join(f"{their} < {our}" for our, their in zip(ours, theirs, strict=True))
    columns = ", ".join(names)
    return f"""
    with log as (
        select object, snapshot, {columns} from {schema}.updates where period between $first_period and $last_period
        union all
        select object, -1, {columns} from {schema}.carry where period = $before and object is not null
    ), exits as (
        select object, last_snapshot + 1 as snapshot from {schema}.reigns
        where last_snapshot >= $first and last_snapshot < $last
    ), leavers as (
        select e.object, e.snapshot, {", ".join(f"p.{name}" for name in names)}
        from exits e asof left join log p on e.object = p.object and e.snapshot >= p.snapshot
    ), members as (
        select e.object as leaver, e.snapshot, m.object, m.first_snapshot = e.snapshot as is_new
        from (select distinct snapshot, object from exits) e
        join {schema}.reigns m on e.snapshot between m.first_snapshot and m.last_snapshot
    ), rivals as (
        select m.*, {", ".join(f"p.{name}" for name in names)}
        from members m asof join log p on m.object = p.object and m.snapshot >= p.snapshot
    ), replaced as (
        select l.object, l.snapshot, arg_max(r.object, (r.is_new, r.object)) as replaced_by
        from leavers l join rivals r on r.leaver = l.object and r.snapshot = l.snapshot
        where {nowhere_worse} and ({somewhere_better})
        group by l.object, l.snapshot
    ), events as (
        select first_snapshot as snapshot, 'entered' as change, object, null as reason, null as replaced_by
        from {schema}.reigns where first_snapshot > $first and first_snapshot <= $last
        union all
        select l.snapshot, 'left', l.object, case when l.{names[0]} is null then 'gone' else 'beaten' end, r.replaced_by
        from leavers l left join replaced r using (object, snapshot)
    ), names as (
        select object, arg_max(name, period) as name from {schema}.objects where period <= $last_period group by object
    )
    select e.snapshot, s.time, s.label, e.change, e.object, coalesce(n.name, e.object), e.reason, e.replaced_by,
        coalesce(o.name, e.replaced_by)
    from events e join {schema}.snapshots s using (snapshot)
    left join names n on n.object = e.object left join names o on o.object = e.replaced_by
    order by e.snapshot, e.change desc, e.object
    """
