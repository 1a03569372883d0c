/// The view Model: the map of all entities, one entity with its neighbours, and how far attributes are used.
extension ReportScript {
    static let model = #"""
    let isPaper = false;
    // A larger model has a page for each entity.
    const isLarge = () => data.model.entities.length > 12 && !isPaper;
    const showModel = (section, name) => {
      const found = data.model, one = isLarge() && found.entities.find(entity => entity.name === name);
      if (one) { section.append(el("p", {}, link(["model"], "All entities")), neighbours(one), entityDetails(one)); return; }
      const relationships = found.entities.reduce((sum, entity) => sum + entity.relationships.length, 0);
      const attributes = found.entities.reduce((sum, entity) => sum + entity.attributes.length, 0), drawing = byId("diagram").content.querySelector("svg");
      const idle = unused();
      section.append(el("p", {}, `${plural(found.entities.length, "entity", "entities")}, ${plural(attributes, "attribute")}`, idle.length ? [" (", link(["model", "", "unused"], `${number(idle.length)} without a value in any row`), ")"] : "",
        `, ${plural(relationships, "relationship")}` + (found.version ? `; version ${found.version}` : "") + "."));
      if (isLarge()) section.append(entityList());
      if (drawing) section.append(diagram(document.importNode(drawing, true)));
      if (found.warnings.length) section.append(el("h3", {}, plural(found.warnings.length, "remark")), el("ul", { class: "findings" }, found.warnings.map(text => el("li", {}, text))));
      if (idle.length) section.append(el("h3", { id: "unused", tabindex: -1 }, "Attributes without a value in any row"), table({ caption: `${plural(idle.length, "attribute")} of entities that have objects`, rows: idle, page: 20, columns: [
        { name: "Entity", value: each => each.entity.name, cell: each => link(["model", each.entity.name], each.entity.name) },
        { name: "Attribute", value: each => each.attribute.name, cell: each => each.attribute.name }, { name: "Type", value: each => each.attribute.type, cell: each => each.attribute.type } ] }));
      if (!isLarge()) for (const entity of found.entities) section.append(entityDetails(entity));
    };
    const entityList = () => {
      const words = el("input", { type: "search", id: "entities", autocomplete: "off" }), list = el("div");
      const has = (entity, text) => [entity.name, ...entity.attributes.map(each => each.name), ...entity.relationships.map(each => each.name)].some(name => name.toLowerCase().includes(text));
      const refresh = () => list.replaceChildren(table({ caption: "Entities", page: 12, sort: 4, descending: true, rows: data.model.entities.filter(entity => has(entity, words.value.trim().toLowerCase())), columns: [
        { name: "Entity", value: entity => entity.name, cell: entity => link(["model", entity.name], entity.name) }, { name: "Parent", value: entity => entity.parent, cell: entity => entity.parent || "" },
        { name: "Attributes", number: true, value: entity => entity.attributes.length, cell: entity => number(entity.attributes.length) },
        { name: "Relationships", number: true, value: entity => entity.relationships.length, cell: entity => number(entity.relationships.length) },
        { name: "Objects", number: true, value: entity => entity.objects || 0, cell: entity => entity.isAbstract ? "abstract" : number(entity.objects) } ] }));
      words.addEventListener("input", refresh);
      refresh();
      return el("div", {}, el("div", { class: "tools" }, el("label", {}, "Find an entity or a property", words)), list);
    };
    const diagram = drawing => {
      const frame = el("div", { class: "diagram fit", tabindex: 0, role: "region", "aria-label": "Diagram of the model" }, drawing);
      const size = el("button", { type: "button", on: { click: () => {
        const isFull = frame.classList.toggle("fit") === false;
        size.textContent = isFull ? "Fit the width" : "Full size";
      } } }, "Full size");
      const objects = new Map(data.model.entities.map(entity => [entity.name, entity.objects]));
      for (const box of drawing.querySelectorAll("[data-entity]")) box.classList.toggle("hw-empty", !objects.get(box.getAttribute("data-entity")));
      // An entity under the pointer or the focus shows its lines.
      const light = event => {
        const entity = event.target.closest("[data-box]"), box = entity && entity.getAttribute("data-box");
        for (const line of drawing.querySelectorAll("[data-from]")) {
          const isMine = box !== null && (line.getAttribute("data-from") === box || line.getAttribute("data-to") === box);
          line.classList.toggle("lit", isMine);
          line.classList.toggle("dim", box !== null && !isMine);
        }
        for (const other of drawing.querySelectorAll("[data-box]")) other.classList.toggle("lit", other === entity);
      };
      for (const kind of ["mouseover", "mouseleave", "focusin"]) drawing.addEventListener(kind, light);
      const key = drawing.querySelector(".hw-end") ? "A name leads to the rows, a relationship to its end. * is required; ⟨ is many, | is one; a dashed line leads from a parent. Entities without objects are grey."
        : "A name leads to the entity with its neighbours. A line stands for all relationships between two entities; a dashed one leads from a parent. Entities without objects are grey.";
      return el("div", {}, el("div", { class: "tools" }, size, el("span", { class: "muted" }, key)), frame);
    };
    const entityDetails = entity => {
      const lines = [];
      if (entity.parent) lines.push(["Inherits from ", link(["model", entity.parent], entity.parent), ". "]);
      if (entity.isAbstract) lines.push("Abstract. ");
      if (entity.className) lines.push(`Class ${entity.className}. `);
      if (!entity.isAbstract) lines.push([link(["rows", entity.name], plural(entity.objects || 0, "object")), entity.bytes ? `, ${bytes(entity.bytes)}. ` : ". "]);
      for (const names of entity.unique) lines.push(`Unique: ${names}. `);
      if (entity.attributes.some(attribute => !attribute.isOptional)) lines.push("* is required. ");
      const uses = new Map(entity.attributes.map(attribute => [attribute, useOf(entity, attribute)]));
      const nouns = { attributes: "attribute", relationships: "relationship", indexes: "index" }, counted = caption => plural(entity[caption].length, nouns[caption], caption);
      const list = (caption, columns) => entity[caption].length ? el("div", { "data-part": caption }, table({ caption: counted(caption), page: 400, rows: entity[caption], columns })) : null;
      // The tables of a large entity are far below each other.
      const leap = caption => el("button", { type: "button", on: { click: event => event.target.closest("article").querySelector(`[data-part=${caption}]`).scrollIntoView({ block: "start" }) } }, counted(caption));
      return el("article", { class: "entity", id: "entity-" + entity.name, tabindex: -1 }, el("h3", {}, entity.name), el("p", { class: "muted" }, lines),
        isLarge() ? el("div", { class: "tools" }, Object.keys(nouns).filter(caption => entity[caption].length).map(leap)) : null,
        el("div", { class: isLarge() ? null : "halves" },
          list("attributes", [
            { name: "Name", value: attribute => attribute.name, cell: attribute => attribute.name + (attribute.isOptional ? "" : "*") }, { name: "Type", nowrap: true, value: attribute => attribute.type, cell: attribute => attribute.type },
            { name: "Filled", number: true, value: attribute => uses.get(attribute).share, cell: attribute => uses.get(attribute).filled }, { name: "Different values", cell: attribute => el("span", { class: "cell" }, uses.get(attribute).values) },
            { name: "Remarks", cell: attribute => attribute.remarks } ]) || el("p", { class: "muted" }, "No attributes of its own."),
          el("div", {},
            list("relationships", [
              { name: "Name", cell: item => item.name }, { name: "To", cell: item => link(["model", item.destination], item.destination) },
              { name: "Many", nowrap: true, cell: item => item.multiplicity + (item.isOrdered ? ", ordered" : "") }, { name: "Inverse", cell: item => item.inverse || "none" },
              { name: "On delete", cell: item => item.rule } ]),
            list("indexes", [
              { name: "Name", cell: index => index.name }, { name: "Of", cell: index => index.elements },
              { name: "Entries", number: true, cell: index => number(index.entries) }, { name: "Bytes", number: true, cell: index => bytes(index.bytes) } ]))));
    };
    // An entity and all that inherit from it.
    const family = name => [name, ...data.model.entities.filter(each => each.parent === name).flatMap(each => family(each.name))];
    // How far the rows of the page fill an attribute, and with how many values.
    const useOf = (entity, attribute) => {
      let rows = 0, filled = 0;
      const values = new Set();
      for (const each of family(entity.name).map(name => tables[tableOf.get(name)]).filter(Boolean)) {
        const at = each.columns.findIndex(column => column.name === attribute.name);
        if (at >= 0) for (const row of each.rows) {
          rows += 1;
          if (row.cells[at] === null) continue;
          filled += 1;
          if (values.size <= 100) values.add(textOf(row.cells[at], each.columns[at]));
        }
      }
      if (!rows) return { share: null, filled: "–", values: "" };
      const only = [...values][0];
      return { share: filled / rows, filled: filled ? percent(filled, rows) : attribute.isUsed === false ? "never" : attribute.isUsed ? "beyond the sample" : "not in the sample",
        values: values.size === 1 && filled > 1 ? `always ${only.length > 30 ? only.slice(0, 29) + "…" : only || "empty"}` : values.size > 100 ? "more than 100" : values.size ? number(values.size) : "" };
    };
    const unused = () => !data.model ? [] : data.model.entities.flatMap(entity => entity.attributes.filter(attribute => attribute.isUsed === false).map(attribute => ({ entity, attribute })));
    """#

    /// One entity in the middle of those to which it is joined. Rows and boxes have the same order from top to bottom, so no line crosses another.
    static let neighbours = #"""
    const neighbours = entity => {
      if (room() < 560) return null;
      const groups = joined(entity);
      if (!groups.length) return null;
      const isTwoSided = room() >= 940 && groups.length > 1, width = Math.min(room(), isTwoSided ? 1080 : 760), gap = 80, middle = Math.min(300, width * 0.4), side = (width - middle - gap * (isTwoSided ? 2 : 1)) / (isTwoSided ? 2 : 1);
      const heights = [0, 0], row = 18, head = 28, hasRows = group => group.lines.some(line => line.theirs), high = group => head + (hasRows(group) ? group.lines.length * row + 8 : 0);
      for (const group of groups) {
        group.side = isTwoSided && heights[0] < heights[1] ? 0 : 1;
        group.y = heights[group.side];
        heights[group.side] += high(group) + 14;
      }
      const lines = groups.flatMap(group => group.lines.map(line => ({ ...line, group }))), own = head + lines.length * row + 8, height = Math.max(own, ...heights) + 2, left = isTwoSided ? side + gap : 0;
      const top = (height - own) / 2, base = group => 1 + group.y + (height - 2 - heights[group.side] + 14) / 2;
      const cut = (text, wide) => { const most = Math.floor((wide - 20) / 7.3); return text.length > most ? text.slice(0, Math.max(1, most - 1)) + "…" : text; };
      const box = (x, y, wide, tall, name, rows) => svg("g", {}, svg("rect", { class: "hw-box", x, y, width: wide, height: tall, rx: 5 }), svg("path", { class: "hw-rule", d: `M${x} ${y + head} h${wide}` }),
        svg("a", { href: "#" + (name === entity.name ? ["rows", name] : ["model", name]).map(encodeURIComponent).join("/") }, svg("text", { class: "hw-title", x: x + 10, y: y + 18.5 }, cut(name, wide))),
        rows.map(([text, note], index) => svg("g", {}, svg("title", {}, `${text} ${note}`), svg("text", { x: x + 10, y: y + head + 17 + index * row }, cut(text, wide - note.length * 7.3 - 8)), svg("text", { class: "hw-note", x: x + wide - 10, y: y + head + 17 + index * row }, note))));
      const curves = lines.map((line, index) => {
        const isRight = line.group.side === 1, from = isRight ? left + middle : left, to = isRight ? left + middle + gap : side, y = top + head + 13 + index * row, end = base(line.group) + (line.theirs ? head + 13 + line.group.lines.indexOf(line.group.lines.find(each => each.mine === line.mine && each.theirs === line.theirs)) * row : 14), half = (from + to) / 2;
        return svg("path", { class: line.isParent ? "hw-line hw-is" : "hw-line", d: `M${from} ${y} C${half} ${y} ${half} ${end} ${to} ${end}` });
      });
      const drawing = svg("svg", { class: "hw-model", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `${entity.name} and its neighbours` }, curves,
        groups.map(group => box(group.side === 1 ? left + middle + gap : 0.5, base(group), side - 1, high(group), group.name, hasRows(group) ? group.lines.map(line => [line.theirs, line.theirNote]) : [])),
        box(left + 0.5, top, middle - 1, own, entity.name, lines.map(line => [line.mine, line.note])));
      return el("div", { class: "diagram fit", tabindex: 0, role: "region", "aria-label": `Diagram of ${entity.name} and its neighbours` }, drawing);
    };
    // The entities to which an entity is joined, with the properties at both ends.
    const joined = entity => {
      const groups = new Map(), all = new Map(data.model.entities.map(each => [each.name, each]));
      const add = (name, line) => { if (!groups.has(name)) groups.set(name, { name, lines: [] }); groups.get(name).lines.push({ theirs: "", theirNote: "", note: "", ...line }); };
      if (entity.parent) add(entity.parent, { mine: "inherits from", isParent: true });
      for (const item of entity.relationships) {
        const inverse = item.inverse && all.has(item.destination) ? all.get(item.destination).relationships.find(each => each.name === item.inverse) : null;
        add(item.destination, { mine: item.name, note: item.multiplicity, theirs: item.inverse || "", theirNote: inverse ? inverse.multiplicity : "" });
      }
      for (const other of data.model.entities) {
        for (const item of other.relationships) if (item.destination === entity.name && !item.inverse && other !== entity) add(other.name, { mine: "is referred to", theirs: item.name, theirNote: item.multiplicity });
        if (other.parent === entity.name) add(other.name, { mine: "is inherited", isParent: true });
      }
      return [...groups.values()];
    };
    """#
}
