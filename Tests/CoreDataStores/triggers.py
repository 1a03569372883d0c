"""The triggers that keep derived attributes. They call functions that only Core Data has, so they are made behind all rows."""


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
    for end, event, row, change in (
            ("INSERT", "INSERT", "NEW", f"IFNULL({column}, 0) + 1"), ("UPDATE_INCREMENT", f"UPDATE OF {link}", "NEW", f"{column} + 1"),
            ("UPDATE_DECREMENT", f"UPDATE OF {link}", "OLD", f"{column} - 1"), ("DELETE", "DELETE", "OLD", f"{column} - 1")):
        key = f"{row}.{link}"
        found.append(
            f"CREATE TRIGGER {name}_{end} AFTER {event} ON {members} FOR EACH ROW WHEN ({key} NOT NULL) BEGIN "
            f"UPDATE {table} SET {column} = {change} WHERE Z_PK = {key}; {shown('Updated', table, one.name, column, key)} END")
    counted = f"(SELECT IFNULL(COUNT({link}), 0) FROM {members} WHERE {link} = NEW.Z_PK)"
    found.append(
        f"CREATE TRIGGER Z_DA_{table}_{entity.name}_{one.name}_SOURCE_INSERT AFTER INSERT ON {table} FOR EACH ROW BEGIN "
        f"UPDATE {table} SET {column} = {counted} WHERE Z_PK = NEW.Z_PK; {shown('InsertUpdated', table, one.name, column, 'NEW.Z_PK')} END")
    return found


def shown(kind, table, name, column, key):
    """Tells Core Data of the new value."""
    return (
        f"SELECT NSCoreDataDATrigger{kind}AffectedObjectValue('{table}', Z_ENT, Z_PK, '{name}', {column}) "
        f"FROM {table} WHERE Z_PK = {key};")
