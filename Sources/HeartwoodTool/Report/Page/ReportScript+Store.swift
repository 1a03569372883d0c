/// The views of a store as a whole: Overview, Model, Space and Time.
extension ReportScript {
    static let overview = #"""
    const verdicts = { sound: ["Sound", "good"], guessed: ["Undamaged, with guessed references", "warn"], damaged: ["Damaged", "bad"], unchecked: ["Not verified", "warn"] };
    const showOverview = section => {
      const found = data.overview, [verdict, style] = verdicts[found.check.state];
      const facts = [["File", found.path], ["Kind", found.kind], ["Size", bytes(found.bytes)]]
        .concat(found.objects === undefined ? [] : [["Objects", `${number(found.objects)} of ${plural(found.entities || 0, "entity", "entities")}`]])
        .concat(found.facts.map(fact => [fact.name, fact.text]));
      const health = el("div", {}, el("h3", {}, "Is it sound?"), el("p", { class: `verdict ${style}` }, verdict),
        el("p", {}, found.check.summary, found.check.seconds === undefined ? "" : ` Verified in ${found.check.seconds.toFixed(2)} s, ${moment(data.made)}.`),
        found.check.lines.length ? el("ul", { class: "findings" }, found.check.lines.map(line => el("li", {}, line))) : null,
        found.check.more ? el("p", { class: "muted" }, `… and ${plural(found.check.more, "more line")}`) : null);
      const advice = el("div", {}, el("h3", {}, "What to do"), found.advice.length
        ? el("ul", { class: "advice" }, found.advice.map(item => el("li", {}, item.text, item.command ? el("code", {}, item.command) : null)))
        : el("p", { class: "muted" }, "Nothing: no advice for this store."));
      section.append(el("div", { class: "columns" },
        el("div", {}, health, entitySummary()),
        el("div", {}, advice, el("h3", {}, "Facts"), el("dl", { class: "facts" }, facts.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])), latest())));
      for (const line of found.backups) section.append(backup(line));
    };
    const entitySummary = () => {
      if (!data.model) return null;
      const rows = data.model.entities.filter(entity => !entity.isAbstract);
      const whole = Math.max(...rows.map(entity => entity.bytes || 0), 1);
      return el("div", {}, el("h3", {}, "Entities"), table({
        caption: `${plural(rows.length, "entity", "entities")} with objects of their own`, rows, sort: 1, descending: true, columns: [
          { name: "Entity", value: entity => entity.name, cell: entity => link(["rows", entity.name], entity.name) },
          { name: "Objects", number: true, value: entity => entity.objects, cell: entity => number(entity.objects) },
          { name: "Bytes", number: true, value: entity => entity.bytes, cell: entity => bytes(entity.bytes) },
          { name: "Mean", number: true, value: entity => entity.objects ? (entity.bytes || 0) / entity.objects : null, cell: entity => entity.objects && entity.bytes ? bytes(Math.round(entity.bytes / entity.objects)) : "–" },
          { name: "", cell: entity => meter(entity.bytes || 0, whole) },
        ] }));
    };
    const latest = () => data.time && data.time.points.length ? el("div", {}, el("h3", {}, `Newest ${data.time.noun}s`), el("dl", { class: "facts" },
      data.time.points.slice(0, 5).map(point => [el("dt", {}, time(point.time)), el("dd", {}, brief(point))])),
      el("p", {}, link(["time"], `All ${data.time.noun}s`))) : null;
    // A table of a relationship's links is called by the relationship.
    const tableName = name => name.startsWith("link:") ? name.slice(5) : name;
    const counts = change => [change.written ? `${number(change.written)} written` : "", change.deleted ? `${number(change.deleted)} deleted` : ""].filter(Boolean).join(", ");
    const changed = point => point.changes.map(change => `${tableName(change.name)} ${counts(change)}`).join("; ");
    const brief = point => {
      const names = point.changes.map(change => tableName(change.name)).filter(name => !name.includes(".") && !name.startsWith("("));
      return [point.author ? `${point.author}: ` : "", point.changes.length ? counts({ written: total(point, "written"), deleted: total(point, "deleted") }) : bytes(point.bytes),
        names.length ? ` (${names.slice(0, 4).join(", ")}${names.length > 4 ? ", …" : ""})` : ""];
    };
    const backup = line => el("div", { class: "entity" }, el("h3", {}, `Line of commits ${line.lineage}`),
      el("p", {}, `Of store ${line.store}. Commits that can be restored: ${line.restorable}. `, line.gaps.length ? el("span", { class: "bad" }, `Gaps: ${line.gaps.join(", ")}.`) : "No gaps."),
      table({ caption: "Archives, the newest first", rows: line.archives, note: line.more ? `${plural(line.more, "older archive")} not shown` : "", columns: [
        { name: "Kind", value: archive => archive.isBase ? 0 : 1, cell: archive => archive.isBase ? "Full copy" : "Increment" },
        { name: "First commit", number: true, value: archive => archive.first, cell: archive => number(archive.first) },
        { name: "Last commit", number: true, value: archive => archive.last, cell: archive => number(archive.last) },
        { name: "Bytes", number: true, value: archive => archive.bytes, cell: archive => bytes(archive.bytes) },
        { name: "From", nowrap: true, value: archive => archive.from, cell: archive => time(archive.from) },
        { name: "To", nowrap: true, value: archive => archive.to, cell: archive => time(archive.to) },
      ] }));
    """#

    static let model = #"""
    const showModel = (section, name) => {
      const found = data.model, drawing = byId("diagram").content.querySelector("svg");
      const relationships = found.entities.reduce((sum, entity) => sum + entity.relationships.length, 0);
      const attributes = found.entities.reduce((sum, entity) => sum + entity.attributes.length, 0);
      section.append(el("p", {}, `${plural(found.entities.length, "entity", "entities")}, ${plural(attributes, "attribute")}, ${plural(relationships, "relationship")}` + (found.version ? `; version ${found.version}` : "") + "."));
      if (drawing) section.append(diagram(document.importNode(drawing, true)));
      if (found.warnings.length) section.append(el("h3", {}, plural(found.warnings.length, "remark")), el("ul", { class: "findings" }, found.warnings.map(text => el("li", {}, text))));
      for (const entity of found.entities) section.append(entityDetails(entity));
    };
    const diagram = drawing => {
      const frame = el("div", { class: "diagram fit", tabindex: 0, role: "region", "aria-label": "Diagram of the model" }, drawing);
      const size = el("button", { type: "button", "aria-pressed": "false", on: { click: () => {
        const isFull = frame.classList.toggle("fit") === false;
        size.setAttribute("aria-pressed", String(isFull));
      } } }, "Full size");
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
      return el("div", {}, el("div", { class: "tools" }, size, el("span", { class: "muted" }, "A name leads to the rows, a relationship to its end. * is required; ⟨ is many, | is one; a dashed line leads from a parent.")), frame);
    };
    const entityDetails = entity => {
      const lines = [];
      if (entity.parent) lines.push(["Inherits from ", link(["model", entity.parent], entity.parent), ". "]);
      if (entity.isAbstract) lines.push("Abstract. ");
      if (entity.className) lines.push(`Class ${entity.className}. `);
      if (!entity.isAbstract) lines.push([link(["rows", entity.name], plural(entity.objects || 0, "object")), entity.bytes ? `, ${bytes(entity.bytes)}. ` : ". "]);
      for (const names of entity.unique) lines.push(`Unique: ${names}. `);
      return el("article", { class: "entity", id: "entity-" + entity.name, tabindex: -1 }, el("h3", {}, entity.name), el("p", { class: "muted" }, lines),
        el("div", { class: "columns" },
          entity.attributes.length ? table({ caption: "Attributes", page: 400, rows: entity.attributes, columns: [
            { name: "Name", cell: attribute => attribute.name + (attribute.isOptional ? "" : "*") }, { name: "Type", cell: attribute => attribute.type },
            { name: "Remarks", cell: attribute => attribute.remarks } ] }) : el("p", { class: "muted" }, "No attributes of its own."),
          el("div", {},
            entity.relationships.length ? table({ caption: "Relationships", page: 400, rows: entity.relationships, columns: [
              { name: "Name", cell: item => item.name }, { name: "To", cell: item => link(["model", item.destination], item.destination) },
              { name: "Many", nowrap: true, cell: item => item.multiplicity + (item.isOrdered ? ", ordered" : "") }, { name: "Inverse", cell: item => item.inverse || "none" },
              { name: "On delete", cell: item => item.rule } ] }) : null,
            entity.indexes.length ? table({ caption: "Indexes", page: 400, rows: entity.indexes, columns: [
              { name: "Name", cell: index => index.name }, { name: "Of", cell: index => index.elements },
              { name: "Entries", number: true, cell: index => number(index.entries) }, { name: "Bytes", number: true, cell: index => bytes(index.bytes) } ] }) : null)));
    };
    """#

    static let space = #"""
    const kinds = { rows: "Rows", values: "Large values", index: "Indexes", dead: "Dead or free", other: "Other" };
    const showSpace = section => {
      const found = data.space, width = room(), height = 420;
      const picture = svg("svg", { class: "treemap", viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": "Treemap of the file; the table below has its numbers" },
        tiles(found.parts, 0, 0, width, height).map(tile => {
          const letters = Math.floor((tile.width - 12) / 7), name = tableName(tile.part.name).length > letters ? tableName(tile.part.name).slice(0, Math.max(0, letters - 1)) + "…" : tableName(tile.part.name);
          return svg("g", {}, svg("title", {}, `${tile.part.name}, ${kinds[tile.part.kind]}: ${bytes(tile.part.bytes)}`),
            svg("rect", { class: `k-${tile.part.kind}`, x: tile.x, y: tile.y, width: tile.width, height: tile.height }),
            letters > 3 && tile.height > 18 ? svg("text", { x: tile.x + 6, y: tile.y + 15 }, name) : null,
            letters > 7 && tile.height > 36 ? svg("text", { class: "muted", x: tile.x + 6, y: tile.y + 31 }, bytes(tile.part.bytes)) : null);
        }));
      const sums = Object.keys(kinds).map(kind => [kind, found.parts.filter(part => part.kind === kind).reduce((sum, part) => sum + part.bytes, 0)]).filter(pair => pair[1] > 0);
      section.append(picture, el("ul", { class: "key" }, sums.map(([kind, sum]) => el("li", {}, svg("svg", { width: 10, height: 10, "aria-hidden": "true" }, svg("rect", { class: `k-${kind}`, width: 10, height: 10 })),
        `${kinds[kind]} ${bytes(sum)}, ${percent(sum, found.bytes)}`))),
        el("h3", {}, "Parts"), table({ caption: `The parts of ${bytes(found.bytes)}`, rows: found.parts, sort: 3, descending: true, columns: [
          { name: "Part", value: part => part.name, cell: part => tableName(part.name) }, { name: "Kind", value: part => kinds[part.kind], cell: part => kinds[part.kind] },
          { name: "Entries", number: true, value: part => part.count, cell: part => number(part.count) },
          { name: "Bytes", number: true, value: part => part.bytes, cell: part => bytes(part.bytes) },
          { name: "Share", number: true, value: part => part.bytes, cell: part => percent(part.bytes, found.bytes) },
          { name: "", cell: part => meter(part.bytes, found.parts[0].bytes) } ] }));
    };
    """#

    static let time = #"""
    const showTime = section => {
      const found = data.time, points = found.points;
      if (found.failure) section.append(el("p", { class: "bad" }, `The list ends early: ${found.failure}`));
      if (!points.length) { section.append(el("p", { class: "muted" }, `There is no ${found.noun}.`)); return; }
      section.append(el("p", {}, `${found.isCut ? "The newest " : ""}${plural(points.length, found.noun)}, ${moment(points[points.length - 1].time)} to ${moment(points[0].time)}.`), history(points));
      const authors = [...new Set(points.map(point => point.author || ""))].sort(), names = [...new Set(points.flatMap(point => point.changes.map(change => change.name)))].sort();
      const author = el("select", {}, el("option", { value: "*" }, "Everybody"), authors.map(name => el("option", { value: name }, name || "(no author)")));
      const entity = el("select", {}, el("option", { value: "*" }, "Everything"), names.map(name => el("option", { value: name }, tableName(name))));
      const list = el("div");
      const refresh = () => list.replaceChildren(table({
        caption: `${found.noun[0].toUpperCase() + found.noun.slice(1)}s, the newest first`,
        rows: points.filter(point => (author.value === "*" || (point.author || "") === author.value) && (entity.value === "*" || point.changes.some(change => change.name === entity.value))),
        columns: [
          { name: "Number", number: true, value: point => point.number, cell: point => number(point.number) },
          { name: "Time", nowrap: true, value: point => point.time, cell: point => time(point.time, true) },
          { name: "Author", value: point => point.author, cell: point => point.author || "" },
          ...(points[0].bytes === undefined ? [] : [{ name: "Bytes", number: true, value: point => point.bytes, cell: point => bytes(point.bytes) }]),
          ...(names.length === 0 ? [] : [{ name: "Written", number: true, value: point => total(point, "written"), cell: point => number(total(point, "written")) },
            { name: "Deleted", number: true, value: point => total(point, "deleted"), cell: point => number(total(point, "deleted")) },
            { name: "What", cell: point => el("span", { class: "cell" }, changed(point)) }]),
        ] }));
      author.addEventListener("change", refresh);
      entity.addEventListener("change", refresh);
      refresh();
      section.append(el("div", { class: "tools" }, el("label", {}, "Author", author), names.length ? el("label", {}, "Changed", entity) : null), list);
    };
    const total = (point, key) => point.changes.reduce((sum, change) => sum + change[key], 0);
    // The sums of equal spans of time.
    const history = points => {
      const width = room(), height = width < 600 ? 170 : 150, base = 120, first = points[points.length - 1].time, last = points[0].time, count = Math.min(Math.floor(width / 14), Math.max(8, points.length));
      const weight = point => point.bytes === undefined ? total(point, "written") + total(point, "deleted") : point.bytes;
      const sums = new Array(count).fill(0);
      for (const point of points) sums[Math.min(count - 1, Math.max(0, Math.floor((point.time - first) / Math.max(1, last - first) * count)))] += weight(point);
      const most = Math.max(...sums, 1), unit = points[0].bytes === undefined ? plural(most, "change") : bytes(most);
      return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": `Bars over time, at most ${unit} in one of ${count} spans; the table below has the numbers` },
        sums.map((sum, index) => svg("rect", { class: "bar", x: index * width / count + 1, width: Math.max(1, width / count - 2), y: base - 100 * sum / most, height: 100 * sum / most })),
        svg("path", { class: "axis", d: `M0 ${base + 0.5} H${width}` }), svg("text", { class: "muted", x: 0, y: 14 }, unit), svg("text", { class: "muted", x: 0, y: base + 18 }, moment(first)),
        svg("text", { class: "muted", x: width, y: base + (width < 600 ? 36 : 18), "text-anchor": "end" }, moment(last)));
    };
    """#
}
