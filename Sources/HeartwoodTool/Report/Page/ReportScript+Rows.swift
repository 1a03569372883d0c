/// The views of single objects: Rows, the search over them, Queries and Diff.
extension ReportScript {
    /// Cells as people read them, and as texts for filters and sorting.
    static let cells = #"""
    const tables = data.rows ? data.rows.tables : [], known = new Map(), tableOf = new Map(tables.map((each, index) => [each.entity, index]));
    tables.forEach((each, index) => each.rows.forEach(row => known.set(row.id, { row, table: each, index })));
    // What a column shows: a relationship by its end, an attribute by its type.
    const kindsOfTypes = { Date: "date", Boolean: "flag", UUID: "identifier", Binary: "data", Transformable: "object", Decimal: "decimal", Double: "real", Float: "real" };
    for (const each of tables) for (const column of each.columns) column.kind = column.end || kindsOfTypes[column.type] || (/^Integer/.test(column.type || "") ? "integer" : "text");
    const local = id => id.slice(id.indexOf(".") + 1);
    const entityOf = id => tables[Number(id.slice(0, id.indexOf(".")))];
    const label = id => {
      const found = known.get(id), text = found && found.table.label !== undefined ? textOf(found.row.cells[found.table.label], found.table.columns[found.table.label]) : "";
      return text ? (text.length > 60 ? text.slice(0, 59) + "…" : text) : `${entityOf(id) ? entityOf(id).entity : "?"} ${local(id)}`;
    };
    const objectLink = id => known.has(id) ? link(["rows", entityOf(id).entity, local(id)], label(id)) : el("span", { class: "muted", title: "This object is not among the rows of the page" }, label(id));
    const textOf = (cell, column) => {
      if (cell === null || cell === undefined) return "";
      if (column.kind === "date") return typeof cell === "number" ? moment(cell, true) : String(cell);
      if (column.kind === "one") return label(cell);
      if (column.kind === "many") return cell.first.map(label).join(", ");
      if (typeof cell === "object") return cell.cut !== undefined ? cell.cut : cell.type !== undefined ? `${cell.type} ${cell.text || ""}` : cell.start || "";
      return String(cell);
    };
    const sortValue = (cell, column) => {
      if (cell === null || cell === undefined) return null;
      if (typeof cell === "number") return cell;
      if (typeof cell === "boolean") return cell ? 1 : 0;
      if (column.kind === "many") return cell.count;
      if (column.kind === "data") return cell.bytes;
      return textOf(cell, column);
    };
    const isNumber = column => ["integer", "real", "decimal"].includes(column.kind);
    const view = (cell, column, isWhole) => {
      if (cell === null || cell === undefined) return el("span", { class: "muted" }, "–");
      switch (column.kind) {
        case "date": return typeof cell === "number" ? time(cell, true) : cell;
        case "flag": return cell ? "yes" : "no";
        case "integer": case "real": return typeof cell === "number" ? number(cell) : cell;
        case "identifier": return el("code", {}, cell);
        case "one": return objectLink(cell);
        case "many": return [el("span", { class: "muted" }, number(cell.count) + (cell.count ? ": " : "")), cell.first.slice(0, isWhole ? 12 : 3).map((id, index) => [index ? ", " : "", objectLink(id)]),
          cell.count > (isWhole ? 12 : 3) ? el("span", { class: "muted" }, ` … ${number(cell.count - Math.min(cell.first.length, isWhole ? 12 : 3))} more`) : null];
        case "data": return bytesView(cell);
        case "object": return [el("span", { class: "muted" }, `${cell.type}${cell.bytes === undefined ? "" : ", " + bytes(cell.bytes)} `), cell.text || ""];
        default: return typeof cell === "object" ? [cell.cut, el("span", { class: "muted" }, ` … ${plural(cell.length, "character")}`)] : String(cell);
      }
    };
    const pictures = /^image\/(png|jpeg|gif|webp)$/;
    const bytesView = cell => {
      const picture = cell.picture && pictures.test(cell.picture.type) && cell.picture.base64;
      return [picture ? el("img", { alt: `Picture of ${bytes(cell.bytes)}`, src: `data:${cell.picture.type};base64,${picture}` }) : null,
        el("span", { class: "muted" }, cell.picture ? `${cell.picture.type}, ${bytes(cell.bytes)}` : `${bytes(cell.bytes)}: `), cell.picture ? null : el("code", {}, cell.start + (cell.bytes > 16 ? " …" : ""))];
    };
    """#

    static let rows = #"""
    const showRows = (section, name, id) => {
      if (!tables.length) { section.append(el("p", { class: "muted" }, "There are no rows.")); return; }
      const current = tables[tableOf.has(name) ? tableOf.get(name) : Math.max(0, tables.findIndex(each => each.rows.length))];
      const index = tableOf.get(current.entity);
      const choose = el("select", { id: "choose", on: { change: event => { stays = "choose"; go(["rows", event.target.value]); } } },
        tables.map(each => el("option", { value: each.entity, selected: each === current }, `${each.entity} (${number(each.objects === undefined ? each.rows.length : each.objects)})`)));
      const filter = el("input", { type: "search", id: "filter", autocomplete: "off" });
      const column = el("select", { id: "column" }, el("option", { value: "-1" }, "Any column"), current.columns.map((each, at) => el("option", { value: at }, each.name)));
      // Columns that no row fills are hidden. The column that names an object is the first.
      const isFilled = at => current.rows.some(row => row.cells[at] !== null && !(row.cells[at].count === 0)), every = current.columns.map((each, at) => at).sort((a, b) => (b === current.label) - (a === current.label));
      const idle = every.filter(at => !isFilled(at)), empty = el("input", { type: "checkbox", id: "empty" });
      const own = current.rows.filter(row => !row.isEnd).length, ends = current.rows.length - own;
      const note = (current.objects !== undefined && current.objects > own ? `a sample of ${number(own)} of ${plural(current.objects, "object")}` : `all ${plural(own, "object")}`) + (ends ? `, and ${number(ends)} to which others refer, which changed last or which queries find` : "");
      const list = el("div");
      const refresh = () => {
        const words = filter.value.trim().toLowerCase(), only = Number(column.value);
        const matches = row => current.columns.some((each, at) => (only < 0 || only === at) && textOf(row.cells[at], each).toLowerCase().includes(words)) || only < 0 && local(row.id).toLowerCase() === words;
        list.replaceChildren(table({ caption: `Rows of ${current.entity}`, note, rows: words ? current.rows.filter(matches) : current.rows, columns: [
          { name: "ID", nowrap: true, value: row => local(row.id), cell: row => link(["rows", current.entity, local(row.id)], local(row.id)) },
          ...every.filter(at => empty.checked || !current.rows.length || !idle.includes(at)).map(at => [current.columns[at], at]).map(([each, at]) => ({ name: each.name, hint: each.type || `to ${each.end === "many" ? "many" : "one"} ${each.destination}`, number: isNumber(each), nowrap: each.kind === "date", value: row => sortValue(row.cells[at], each), cell: row => el("span", { class: "cell" }, at === current.label && row.cells[at] ? link(["rows", current.entity, local(row.id)], view(row.cells[at], each)) : view(row.cells[at], each)) })),
        ] }));
      };
      filter.addEventListener("input", refresh);
      column.addEventListener("change", refresh);
      empty.addEventListener("change", refresh);
      refresh();
      section.append(el("div", { class: "tools" }, el("label", {}, "Entity", choose), el("label", {}, "Filter", filter), el("label", {}, "In", column), idle.length && current.rows.length ? el("label", { class: "check" }, empty, `${plural(idle.length, "empty column")}`) : null, el("span", { class: "push" }, link(["model", current.entity], "Its model"))));
      if (current.failure) section.append(el("p", { class: "bad" }, `Rows are missing: ${current.failure}`));
      if (id) section.append(objectDetails(`${index}.${id}`));
      section.append(list);
    };
    const objectDetails = id => {
      const found = known.get(id);
      if (!found) return el("p", { class: "bad" }, `The page has no row ${id}.`);
      const filled = found.table.columns.map((column, at) => [column, found.row.cells[at]]).filter(([, cell]) => cell !== null && cell.count !== 0);
      const empty = found.table.columns.filter((column, at) => !filled.some(([other]) => other === column)).map(column => column.name);
      const facts = pairs => el("dl", { class: "facts" }, pairs.map(([column, cell]) => [el("dt", { title: column.type }, column.name, column.destination ? ` → ${column.destination}` : ""), el("dd", {}, view(cell, column, true))]));
      const ends = filled.filter(([column]) => column.end), none = el("p", { class: "muted" }, "Nothing.");
      return el("article", { class: "object", id: "object", tabindex: -1 }, el("h3", {}, label(id)), el("p", { class: "mono muted" }, `${data.rows.prefix}${found.table.entity}/${local(id)}`), el("div", { class: "columns" },
        el("div", {}, facts(filled.filter(([column]) => !column.end)), empty.length ? el("p", { class: "muted" }, `Without a value: ${empty.join(", ")}.`) : null),
        el("div", {}, el("h4", {}, "Refers to"), ends.length ? facts(ends) : none, el("h4", {}, "Referred to by"), referrers(id), data.time ? [el("h4", {}, "Newest changes"), changesOf(id)] : null)));
    };
    // By object and property: the rows of the page that refer to it.
    let referring = null;
    const referrers = id => {
      if (!referring) {
        referring = new Map();
        for (const [from, { row, table }] of known) table.columns.forEach((column, at) => {
          const cell = row.cells[at];
          for (const end of !cell ? [] : column.end === "one" ? [cell] : column.end === "many" ? cell.first : []) {
            if (!referring.has(end)) referring.set(end, new Map());
            const by = referring.get(end), property = `${table.entity}.${column.name}`;
            if (by.has(property)) by.get(property).push(from); else by.set(property, [from]);
          }
        });
      }
      const by = referring.get(id);
      if (!by) return el("p", { class: "muted" }, "No row of this page.");
      return [el("dl", { class: "facts" }, [...by].map(([property, all]) => [el("dt", {}, property), el("dd", {}, all.slice(0, 20).map((from, index) => [index ? ", " : "", objectLink(from)]), all.length > 20 ? ` … ${number(all.length - 20)} more` : null)])),
        el("p", { class: "muted" }, `${plural(new Set([...by.values()].flat()).size, "row")} of this page.`)];
    };
    const changesOf = id => {
      const found = data.time.points.filter(point => (point.objects || []).some(object => object.id === id));
      return found.length ? found.slice(0, 10).map(point => el("div", {}, time(point.time), " ", point.objects.find(object => object.id === id).kind, point.author ? ` by ${point.author}` : "", ", ", link(["time", String(point.number)], `${data.time.noun} ${number(point.number)}`)))
        : el("p", { class: "muted" }, prose("None that the page names. `heartwood log` searches all."));
    };
    """#

    static let search = #"""
    const showSearch = (section, words) => {
      const wanted = (words || "").trim().toLowerCase(), hits = [];
      if (wanted) for (const each of tables) for (const row of each.rows) {
        const at = each.columns.findIndex((column, index) => column.kind !== "one" && column.kind !== "many" && textOf(row.cells[index], column).toLowerCase().includes(wanted));
        if (at >= 0) hits.push({ row, each, at });
      }
      section.append(el("p", {}, wanted ? `${plural(hits.length, "row")} of this page with “${words}”.` : "Type words into the field above."));
      if (hits.length) section.append(table({ caption: "Rows that were found", rows: hits, columns: [
        { name: "Entity", value: hit => hit.each.entity, cell: hit => hit.each.entity }, { name: "Object", value: hit => label(hit.row.id), cell: hit => objectLink(hit.row.id) },
        { name: "Where", value: hit => hit.each.columns[hit.at].name, cell: hit => hit.each.columns[hit.at].name },
        { name: "Value", cell: hit => el("span", { class: "cell" }, view(hit.row.cells[hit.at], hit.each.columns[hit.at])) } ] }));
    };
    """#

    static let queries = #"""
    const ways = { scan: "Reads every row", index: "Uses an index", rows: "Reads rows by number", union: "Joins several ways", nothing: "Reads nothing" };
    const showQueries = section => { for (const query of data.queries) section.append(queryDetails(query)); };
    const queryDetails = query => {
      const part = el("article", { class: "entity" }, el("h3", { class: "mono" }, `${query.entity}: ${query.predicate}`));
      if (query.failure) { part.append(el("p", { class: "bad" }, query.failure)); return part; }
      const isSlow = query.visited > 1000 && query.visited > 20 * Math.max(1, query.matched);
      part.append(el("div", { class: "columns" }, plan(query), el("div", {}, el("dl", { class: "facts" },
        [["Objects of the entity", number(query.objects)], ["Rows visited", number(query.visited)], ["Rows matched", number(query.matched)], ["Time", `${query.milliseconds.toFixed(2)} ms`],
          ["Sorted", query.isSorted ? "yes, in memory" : "no"], ["The predicate reads", query.isInMemory ? "objects, which the store makes first" : "rows, without making objects"]].map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
        isSlow ? el("p", { class: "warn" }, `Most rows that it visits do not match: an index of ${query.entity} over the attributes of the predicate would find them at once.`) : null, scanned(query).map(text => el("p", {}, text)))));
      if (query.first.length) part.append(el("h3", {}, "First objects"), el("p", {}, query.first.map((id, index) => [index ? ", " : "", objectLink(id)])));
      return part;
    };
    // Why every row of an entity is read, and which indexes might have served.
    const scanned = query => {
      const ways = query.steps.filter(step => !step.isLookup && step.way === "scan"), named = new Set(query.predicate.match(/[A-Za-z_]\w*/g) || []);
      if (!ways.length) return [];
      const all = !data.model ? [] : data.model.entities.filter(entity => ways.some(step => step.entity === entity.name)).flatMap(entity => entity.indexes);
      const able = [...new Set(all.filter(index => named.has((index.elements.match(/[A-Za-z_]\w*/) || [])[0])).map(index => index.name))];
      return ["It reads every row. That takes longer as the store grows.", able.length
        ? `${able.slice(0, 6).join(", ")}${able.length > 6 ? ", …" : ""}: ${able.length > 1 ? "these indexes begin" : "this index begins"} with a property of the predicate. The planner takes such an index where it leaves out enough rows; here it expects no gain, or the comparison is none that an index answers.`
        : "No index begins with a property of the predicate."];
    };
    // The steps from left to right, and below them how many rows each stage leaves.
    const plan = query => {
      const boxWidth = 210, gap = 36, boxes = [...query.steps.map(step => [step.isLookup ? `First ${step.entity}` : step.entity, ways[step.way], step.way === "index" ? step.text.slice(6) : step.way === "union" ? step.text.slice(9) : "", !step.isLookup]),
        ["Filter", `${number(query.visited)} visited`, `${number(query.matched)} matched`, false]];
      const most = Math.min(702, room() * (window.innerWidth > 900 ? 0.58 : 1)), perLine = Math.max(1, Math.min(3, Math.floor((most + gap) / (boxWidth + gap))));
      const lines = Math.ceil(boxes.length / perLine), width = Math.max(most, perLine * (boxWidth + gap) - gap), top = lines * 88;
      const stages = [["Objects", query.objects], ["Visited", query.visited], ["Matched", query.matched]].filter(stage => stage[1] !== undefined), largest = Math.max(...stages.map(stage => stage[1]), 1);
      return el("div", { class: "plan" }, svg("svg", { viewBox: `0 0 ${width} ${top + stages.length * 26}`, width: "100%", role: "img", "aria-label": query.lines.join(". ") },
        boxes.map(([name, way, what, isPart], index) => {
          const x = index % perLine * (boxWidth + gap), y = Math.floor(index / perLine) * 88 + 1;
          // Entities are read one beside the other. The last box of a line has nothing behind it.
          const isLast = index + 1 === boxes.length || index % perLine === perLine - 1, isBeside = isPart && !isLast && boxes[index + 1][3];
          return svg("g", {}, svg("title", {}, `${name}: ${way} ${what}`), svg("rect", { class: "k-index", x: x + 0.5, y, width: boxWidth - 1, height: 66, rx: 5 }),
            svg("text", { x: x + 12, y: y + 20, "font-weight": 600 }, fit(name, boxWidth - 24, 600)), svg("text", { x: x + 12, y: y + 38 }, fit(way, boxWidth - 24)), svg("text", { x: x + 12, y: y + 55 }, fit(what, boxWidth - 24)),
            isLast ? null : isBeside ? svg("text", { x: x + boxWidth + gap / 2, y: y + 38, "text-anchor": "middle" }, "+")
              : svg("path", { class: "hw-line", d: `M${x + boxWidth + 4} ${y + 33} h${gap - 10} m-6 -5 l6 5 l-6 5`, fill: "none", stroke: "var(--line)" }));
        }),
        stages.map(([name, count], index) => svg("g", {}, svg("text", { x: 0, y: top + index * 26 + 14 }, name), svg("rect", { class: "track", x: 80, y: top + index * 26 + 3, width: width - 180, height: 14 }),
          svg("rect", { class: "bar", x: 80, y: top + index * 26 + 3, width: Math.max(count > 0 ? 1 : 0, (width - 180) * count / largest), height: 14 }), svg("text", { x: width, y: top + index * 26 + 14, "text-anchor": "end" }, number(count))))));
    };
    """#

    static let difference = #"""
    const showDifference = section => {
      const found = data.difference, kinds = ["inserted", "updated", "deleted"];
      const state = text => {
        const number = (/, commit ([0-9]+)$/.exec(text) || [])[1], point = number && data.time && data.time.points.find(each => String(each.number) === number);
        return [text, point ? [", ", time(point.time)] : null];
      };
      section.append(el("dl", { class: "facts" }, el("dt", {}, "Older"), el("dd", {}, state(found.old)), el("dt", {}, "Newer"), el("dd", {}, state(found.new)),
        found.note ? [el("dt", {}, "Objects"), el("dd", {}, found.note)] : kinds.map(kind => [el("dt", {}, kind[0].toUpperCase() + kind.slice(1)), el("dd", {}, number(found.counts[kind] || 0))])));
      if (found.model.length) section.append(el("h3", {}, "The model"), table({ caption: plural(found.model.length, "change"), rows: found.model, page: 20, columns: [
        { name: "Change", value: each => each.sign, cell: each => ({ "+": "added", "-": "removed", "~": "changed" })[each.sign] },
        { name: "What", value: each => each.element, cell: each => each.element }, { name: "How", cell: each => each.text } ] }));
      const by = each => (each.new || 0) - (each.old || 0), moved = found.entities.filter(by);
      section.append(el("h3", {}, "Numbers of objects"), !moved.length ? el("p", {}, "Each entity has as many objects as before.") : table({
        caption: `${plural(moved.length, "entity", "entities")} with more or fewer objects, of ${number(found.entities.length)}`, rows: moved, page: 20, sort: 3, descending: true, columns: [
          { name: "Entity", value: each => each.entity, cell: each => each.entity }, { name: "Older", number: true, value: each => each.old, cell: each => number(each.old) },
          { name: "Newer", number: true, value: each => each.new, cell: each => number(each.new) }, { name: "Change", number: true, value: each => Math.abs(by(each)), cell: each => (by(each) > 0 ? "+" : "") + number(by(each)) } ] }));
      if (found.note) return;
      const all = kinds.reduce((sum, kind) => sum + (found.counts[kind] || 0), 0);
      if (!all) { section.append(el("p", { class: "muted" }, "Both states have the same objects.")); return; }
      const kind = el("select", {}, el("option", { value: "" }, "All"), kinds.map(each => el("option", { value: each }, each)));
      const entity = el("select", {}, el("option", { value: "" }, "All"), [...new Set(found.objects.map(object => object.entity))].sort().map(name => el("option", { value: name }, name)));
      const list = el("div");
      // A text of a store stands in quotes; URIs without quotes name objects.
      const text = (value, time, style) => {
        if (value === undefined) return el("span", { class: "muted" }, "–");
        if (time !== undefined) return el(style, {}, moment(time, true));
        const parts = value.split(" "), prefix = data.rows ? data.rows.prefix : "";
        if (!prefix || !parts.every(each => each.startsWith(prefix) || each === "…")) return el(style, {}, value);
        return el(style, {}, parts.map((each, index) => {
          const [name, id] = each.slice(prefix.length).split("/");
          return [index ? ", " : "", id && tableOf.has(name) ? objectLink(`${tableOf.get(name)}.${id}`) : each === "…" ? each : each.slice(prefix.length)];
        }));
      };
      const refresh = () => {
        const lines = found.objects.filter(object => (!kind.value || object.kind === kind.value) && (!entity.value || object.entity === entity.value))
          .flatMap(object => (object.properties.length ? object.properties : [{ name: "" }]).map((property, index) => ({ object, property, index })));
        list.replaceChildren(table({ caption: "Properties that differ", rows: lines, note: all > found.objects.length ? `the first ${number(found.objects.length)} of ${plural(all, "object")}` : "", columns: [
          { name: "Change", cell: line => line.index ? "" : line.object.kind }, { name: "Object", cell: line => {
            const id = `${tableOf.get(line.object.entity)}.${line.object.id}`;
            return line.index ? "" : tableOf.has(line.object.entity) ? [objectLink(id), known.has(id) ? el("span", { class: "muted" }, ` ${line.object.entity}`) : ""] : `${line.object.entity} ${line.object.id}`; } },
          { name: "Property", cell: line => line.property.name }, { name: "Older", cell: line => el("span", { class: "cell" }, text(line.property.old, line.property.oldTime, "del")) },
          { name: "Newer", cell: line => el("span", { class: "cell" }, text(line.property.new, line.property.newTime, "ins")) } ] }));
      };
      kind.addEventListener("change", refresh);
      entity.addEventListener("change", refresh);
      refresh();
      section.append(el("h3", {}, "Objects"), el("div", { class: "tools" }, el("label", {}, "Change", kind), el("label", {}, "Entity", entity)), list);
    };
    """#

    /// The views, and the address that chooses one: `#rows/Person/p12`.
    static let views = #"""
    const shown = [["files", "Files", showFiles, data.files], ["overview", "Overview", showOverview, data.overview], ["model", "Model", showModel, data.model], ["space", "Space", showSpace, data.space], ["time", "Time", showTime, data.time],
      ["rows", "Rows", showRows, data.rows], ["queries", "Queries", showQueries, data.queries.length], ["diff", "Differences", showDifference, data.difference], ["search", "Search", showSearch, data.rows]].filter(each => each[3]);
    const sections = new Map();
    const render = (name, ...rest) => {
      const [, title, show] = shown.find(each => each[0] === name), section = sections.get(name);
      section.replaceChildren(el("h2", { id: `${name}-title`, tabindex: -1 }, title));
      show(section, ...rest);
      section.setAttribute("data-made", rest.join("/"));
    };
    // The element that keeps the focus after the next change of the address.
    let stays = null;
    const go = address => { location.hash = address.map(encodeURIComponent).join("/"); };
    const part = text => { try { return decodeURIComponent(text); } catch { return text; } };
    const open = isFirst => {
      const [name, ...rest] = location.hash.slice(1).split("/").map(part);
      if (name === "content") return;
      const current = sections.has(name) ? name : shown[0][0], section = sections.get(current);
      if (section.getAttribute("data-made") !== rest.join("/")) render(current, ...rest);
      for (const [other, each] of sections) each.hidden = other !== current;
      for (const each of byId("views").querySelectorAll("a")) {
        if (each.getAttribute("href") === "#" + current) each.setAttribute("aria-current", "page"); else each.removeAttribute("aria-current");
      }
      document.title = `${shown.find(each => each[0] === current)[1]} – ${data.title}`;
      const kept = stays && byId(stays);
      stays = null;
      if (isFirst) return;
      if (kept) { kept.focus(); return; }
      const target = current === "rows" && rest[1] ? byId("object") : current === "model" && (rest[0] || rest[1]) ? byId(rest[0] ? "entity-" + rest[0] : rest[1]) : current === "time" && rest[0] ? byId("commit") : null;
      (target || byId(`${current}-title`)).focus({ preventScroll: true });
      if (target) target.scrollIntoView({ block: "start" }); else window.scrollTo(0, 0);
    };
    byId("title").append(data.title);
    const summary = found => [found.kind, bytes(found.bytes), found.objects === undefined ? null : plural(found.objects, "object"), verdicts[found.check.state][0].toLowerCase()];
    byId("subtitle").append((data.overview ? summary(data.overview) : tally(data.files)).filter(Boolean).join(" · "));
    byId("foot").append(`Made by heartwood report ${data.version}, ${moment(data.made)}. Times are local to the reader.`);
    for (const [name, title] of shown) {
      const section = el("section", { id: `view-${name}`, "aria-labelledby": `${name}-title`, hidden: true });
      sections.set(name, section);
      byId("content").append(section);
      if (name !== "search") byId("views").append(el("li", {}, link([name], title)));
    }
    byId("search").hidden = !data.rows;
    byId("search").addEventListener("submit", event => { event.preventDefault(); go(["search", byId("words").value]); });
    window.addEventListener("hashchange", () => open(false));
    // Paper has each view, and the model with all entities.
    window.addEventListener("beforeprint", () => {
      isPaper = true;
      for (const name of sections.keys()) if (name === "model" || name !== "search" && sections.get(name).getAttribute("data-made") === null) render(name);
    });
    window.addEventListener("afterprint", () => { isPaper = false; if (sections.has("model")) render("model"); open(true); });
    open(true);
    """#
}
