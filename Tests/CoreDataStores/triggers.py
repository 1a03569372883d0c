"""The triggers that keep derived attributes. They call functions that only Core Data has, so they are made behind all rows."""

UPDATED = "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('{table}', Z_ENT, Z_PK, '{name}', {column}) FROM {table} WHERE Z_PK = {key};"


def triggers(layout):
    found = []
    for entity in layout.model.by_number:
        for one in entity.own:
            if not one.is_relationship and one.derived and ".@count" in one.derived:
                found += count_triggers(layout, entity, one)
    return found


def count_triggers(layout, entity, one):
    """The triggers for a count of the objects that refer to a row."""
    relationship = entity.find(one.derived.split(".")[0])
    inverse, destination = layout.model.inverse(relationship), layout.model.entities[relationship.to]
    if not inverse or inverse.many:
        return []
    table, members = layout.table(entity).name, layout.table(destination).name
    column, link = layout.column(entity, one.name), layout.column(destination, inverse.name)
    name = f"Z_DA_{members}_{entity.name}_{one.name}_PARAMETER"
    found = []
    for end, event, row, step in (
            ("INSERT", "INSERT", "NEW", "+ 1"), ("UPDATE_INCREMENT", f"UPDATE OF {link}", "NEW", "+ 1"),
            ("UPDATE_DECREMENT", f"UPDATE OF {link}", "OLD", "- 1"), ("DELETE", "DELETE", "OLD", "- 1")):
        key = f"{row}.{link}"
        shown = UPDATED.format(table=table, name=one.name, column=column, key=key)
        found.append(
            f"CREATE TRIGGER {name}_{end} AFTER {event} ON {members} FOR EACH ROW WHEN ({key} NOT NULL) BEGIN "
            f"UPDATE {table} SET {column} = IFNULL({column}, 0) {step} WHERE Z_PK = {key}; {shown} END")
    return found
