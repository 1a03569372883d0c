/// The views of a store as a whole, and of several: Files, Overview, Space and Time.
extension ReportScript {
    static let files = #"""
    const verdicts = { sound: ["Sound", "good"], guessed: ["Undamaged, with guessed references", "warn"], damaged: ["Damaged", "bad"], unchecked: ["Not verified", "warn"], unreadable: ["Cannot be read", "bad"] };
    const order = ["damaged", "unreadable", "guessed", "unchecked", "sound"];
    const tally = found => order.map(state => [found.filter(file => file.check.state === state).length, verdicts[state][0].toLowerCase()]).filter(([count]) => count).map(([count, text]) => `${number(count)} ${text}`);
    // A list of the problems, and a sentence for each remedy.
    const findings = check => {
      const isRemedy = line => line.startsWith("remedy: "), found = check.lines.filter(line => !isRemedy(line));
      return [found.length ? el("ul", { class: "findings" }, found.map(line => el("li", {}, prose(line)))) : null, check.more ? el("p", { class: "muted" }, `… and ${plural(check.more, "more line")}`) : null,
        check.lines.filter(isRemedy).map(line => el("p", {}, "What helps: ", prose(line.slice(8)), "."))];
    };
    const showFiles = section => {
      const found = data.files, name = file => file.path.slice(file.path.lastIndexOf("/") + 1);
      section.append(table({ caption: `${plural(found.length, "file")}: ${tally(found).join(", ")}`, page: 400, sort: 0, rows: found, columns: [
        { name: "Is it sound?", value: file => order.indexOf(file.check.state), cell: file => el("span", { class: verdicts[file.check.state][1] }, verdicts[file.check.state][0]) },
        { name: "File", value: name, cell: file => el("span", { title: file.path }, name(file)) }, { name: "Kind", value: file => file.kind, cell: file => file.kind },
        { name: "Bytes", number: true, value: file => file.bytes, cell: file => bytes(file.bytes) }, { name: "Objects", number: true, value: file => file.objects, cell: file => number(file.objects) },
        { name: "Entities", number: true, value: file => file.entities, cell: file => number(file.entities) },
        { name: "Why", cell: file => file.check.state === "sound" ? "" : el("span", { class: "cell" }, prose(file.check.lines[0] || file.check.summary)) } ] }));
      section.append(el("p", { class: "muted" }, prose("`heartwood report FILE -o page.html` shows one file with its rows.")));
      for (const file of found.filter(each => each.check.state !== "sound")) section.append(el("article", { class: "entity" }, el("h3", {}, name(file)), file.path === name(file) ? null : el("p", { class: "muted" }, file.path),
        el("p", { class: verdicts[file.check.state][1] }, `${verdicts[file.check.state][0]}. `, prose(file.check.summary)), findings(file.check), file.advice.map(item => el("p", {}, item.text, " ", item.command ? el("code", {}, item.command) : null))));
    };
    """#

    static let overview = #"""
    const showOverview = section => {
      const found = data.overview, [verdict, style] = verdicts[found.check.state];
      const facts = [["File", found.path], ["Kind", found.kind], ["Size", bytes(found.bytes)]]
        .concat(found.objects === undefined ? [] : [["Objects", `${number(found.objects)}; the model has ${plural(found.entities || 0, "entity", "entities")}`]])
        .concat(found.facts.map(fact => [fact.name, fact.text]));
      const health = el("div", {}, el("h3", {}, "Is it sound?"), el("p", { class: `verdict ${style}` }, verdict),
        el("p", {}, prose(found.check.summary), found.check.seconds === undefined ? "" : ` Verified in ${found.check.seconds.toFixed(2)} s, ${moment(data.made)}.`),
        findings(found.check));
      const idle = unused(), items = found.advice.map(item => el("li", {}, prose(item.text), item.command ? el("code", {}, item.command) : null))
        .concat(idle.length ? el("li", {}, link(["model", "", "unused"], plural(idle.length, "attribute"), " without a value in any row")) : []);
      const advice = el("div", {}, el("h3", {}, "What to do"), items.length
        ? el("ul", { class: "advice" }, items)
        : el("p", { class: "muted" }, verdicts[found.check.state][1] === "bad" ? "The findings say what helps." : "Nothing: no advice for this store."));
      section.append(el("div", { class: "columns" },
        el("div", {}, health, entitySummary()),
        el("div", {}, advice, el("h3", {}, "Facts"), el("dl", { class: "facts" }, facts.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])), latest())));
      for (const line of found.backups) section.append(backup(line));
      if (/^Record log/.test(found.kind)) section.append(el("details", {}, el("summary", {}, "Words of this page"), el("dl", { class: "facts" }, words.map(([word, text]) => [el("dt", {}, word), el("dd", {}, text)]))));
    };
    const words = [["Record log", "a file to whose end each save appends what it changes"], ["Commit", "what one save has appended, whole or not at all; commits have numbers"],
      ["Frame", "the bytes of a commit, or a part of a large one, with a checksum"], ["Checkpoint", "a place from which an opening reads, in place of the beginning"],
      ["Row", "what the file keeps of an object; a link between two objects of many to many is a row too"], ["Dead", "bytes that no newest state needs: older versions, deleted rows, former indexes"],
      ["Entries of an index", "one for each row, and until the next compaction those of former versions"], ["p1", "the number of an object in its entity"]];
    const entitySummary = () => {
      if (!data.model) return null;
      const rows = data.model.entities.filter(entity => !entity.isAbstract);
      const whole = Math.max(...rows.map(entity => entity.bytes || 0), 1);
      return el("div", {}, el("h3", {}, "Entities"), table({
        caption: `${number(rows.filter(entity => entity.objects).length)} of ${plural(rows.length, "entity", "entities")} have objects`, rows, sort: 1, descending: true, columns: [
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
    const changed = point => point.rows ? `${plural(point.rows, "row")}; so large a commit is not read for the page` : point.changes.map(change => `${tableName(change.name)} ${counts(change)}`).join("; ");
    // Tables of objects, links of relationships, and tables of the store's own.
    const isOfLinks = change => change.name.startsWith("link:");
    const isOfObjects = change => !isOfLinks(change) && !change.name.startsWith("(");
    const sumOf = changes => ({ written: changes.reduce((sum, change) => sum + change.written, 0), deleted: changes.reduce((sum, change) => sum + change.deleted, 0) });
    const brief = point => {
      const own = point.changes.filter(isOfObjects), links = point.changes.filter(isOfLinks), names = own.map(change => tableName(change.name));
      const parts = [own.length ? `${counts(sumOf(own))} (${names.slice(0, 4).join(", ")}${names.length > 4 ? ", …" : ""})` : "", links.length ? `links of relationships: ${counts(sumOf(links))}` : ""].filter(Boolean);
      return [point.author ? `${point.author}: ` : "", point.rows ? plural(point.rows, "row") : parts.join("; ") || (point.changes.length ? `of the store itself: ${counts(sumOf(point.changes))}` : bytes(point.bytes))];
    };
    const backup = line => el("div", { class: "entity" }, el("h3", {}, `Line of commits ${line.lineage}`),
      el("p", {}, `Of store ${line.store}. Commits that can be restored: ${line.restorable}. `, line.gaps.length ? el("span", { class: "bad" }, `Gaps: ${line.gaps.join(", ")}.`) : "No gaps."),
      table({ caption: "Archives, the newest first", rows: line.archives, note: line.more ? `${plural(line.more, "older archive")} not shown` : "", columns: [
        { name: "Is it sound?", value: archive => archive.isSound ? 1 : 0, cell: archive => el("span", { class: archive.isSound ? "good" : "bad" }, archive.isSound ? "Sound" : "Damaged") },
        { name: "Kind", value: archive => archive.isBase ? 0 : 1, cell: archive => archive.isBase ? "Full copy" : "Increment" },
        { name: "First commit", number: true, value: archive => archive.first, cell: archive => number(archive.first) },
        { name: "Last commit", number: true, value: archive => archive.last, cell: archive => number(archive.last) },
        { name: "Bytes", number: true, value: archive => archive.bytes, cell: archive => bytes(archive.bytes) },
        { name: "From", nowrap: true, value: archive => archive.from, cell: archive => time(archive.from) },
        { name: "To", nowrap: true, value: archive => archive.to, cell: archive => time(archive.to) },
      ] }));
    """#

    static let space = #"""
    const kinds = { rows: "Rows", values: "Large values", index: "Indexes", dead: "Dead or free", other: "Other" };
    const showSpace = section => {
      const found = data.space, width = room(), height = 420;
      const picture = svg("svg", { class: "treemap", viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": "Treemap of the file; the table below has its numbers" },
        tiles(found.parts, 0, 0, width, height).map(tile => {
          const name = fit(tableName(tile.part.name), tile.width - 12), size = fit(bytes(tile.part.bytes), tile.width - 12);
          return svg("g", {}, svg("title", {}, `${tile.part.name}, ${kinds[tile.part.kind]}: ${bytes(tile.part.bytes)}`),
            svg("rect", { class: `k-${tile.part.kind}`, x: tile.x, y: tile.y, width: tile.width, height: tile.height }),
            name && tile.height > 18 ? svg("text", { x: tile.x + 6, y: tile.y + 15 }, name) : null,
            size && !size.endsWith("…") && tile.height > 36 ? svg("text", { class: "muted", x: tile.x + 6, y: tile.y + 31 }, size) : null);
        }));
      const sums = Object.keys(kinds).map(kind => [kind, found.parts.filter(part => part.kind === kind).reduce((sum, part) => sum + part.bytes, 0)]).filter(pair => pair[1] > 0);
      section.append(el("p", {}, prose(found.compaction)), picture, el("ul", { class: "key" }, sums.map(([kind, sum]) => el("li", {}, svg("svg", { width: 10, height: 10, "aria-hidden": "true" }, svg("rect", { class: `k-${kind}`, width: 10, height: 10 })),
        `${kinds[kind]} ${bytes(sum)}, ${percent(sum, found.bytes)}`))),
        el("h3", {}, "Parts"), table({ caption: `The parts of ${bytes(found.bytes)}`, rows: found.parts, sort: 3, descending: true, columns: [
          { name: "Part", value: part => part.name, cell: part => tableName(part.name) }, { name: "Kind", value: part => kinds[part.kind], cell: part => kinds[part.kind] },
          { name: "Entries", number: true, value: part => part.count, cell: part => number(part.count) },
          { name: "Bytes", number: true, value: part => part.bytes, cell: part => bytes(part.bytes) },
          { name: "Share", number: true, value: part => part.bytes, cell: part => percent(part.bytes, found.bytes) },
          { name: "", cell: part => meter(part.bytes, found.parts[0].bytes) } ] }));
      if (found.segments && found.segments.length > 1) section.append(el("h3", {}, "Segments"), segments(found.segments));
      if (found.values.length) section.append(el("h3", {}, "Largest values"), table({ caption: "Values with space of their own, the largest first", page: 10, rows: found.values, columns: [
        { name: "Object", cell: value => objectLink(value.id) }, { name: "Attribute", cell: value => `${entityOf(value.id).entity}.${value.name}` },
        { name: "Bytes", number: true, value: value => value.bytes, cell: value => bytes(value.bytes) } ] }));
      if (data.time && data.time.points.some(point => point.bytes)) section.append(el("h3", {}, `Largest ${data.time.noun}s`), table({
        caption: `The largest of ${plural(data.time.points.length, data.time.noun)}`, rows: [...data.time.points].sort((a, b) => b.bytes - a.bytes).slice(0, 10), columns: [
          { name: "Number", number: true, cell: point => link(["time", String(point.number)], number(point.number)) }, { name: "Bytes", number: true, cell: point => bytes(point.bytes) },
          { name: "Time", nowrap: true, cell: point => time(point.time) }, { name: "Author", cell: point => el("span", { class: "cell" }, point.author || "") }, { name: "What", cell: point => el("span", { class: "cell" }, changed(point)) } ] }));
    };
    // A bar for each segment, or for several neighbours where they are many.
    const segments = found => {
      const width = room(), height = 120, most = found[0].bytes, step = Math.ceil(found.length / Math.floor(width / 6)), bars = [];
      for (let start = 0; start < found.length; start += step) bars.push(found.slice(start, start + step));
      const wide = Math.min(40, width / bars.length), sum = (bar, key) => bar.reduce((all, each) => all + each[key], 0);
      const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": "Bars of the segments, the oldest first: rows, indexes, dead; the table below has the numbers" }, bars.map((bar, index) => {
        let y = height;
        return svg("g", {}, svg("title", {}, `Segments ${start(index)}: ${bytes(sum(bar, "dead"))} of ${bytes(sum(bar, "bytes"))} dead`), [["rows", "rows"], ["indexes", "index"], ["dead", "dead"]].map(([key, style]) => {
          const part = height * Math.min(1, sum(bar, key) / (most * step));
          y -= part;
          return svg("rect", { class: `k-${style}`, x: index * wide + 1, y, width: Math.max(1, wide - 2), height: part });
        }));
      }));
      function start(index) { return step === 1 ? index + 1 : `${index * step + 1} to ${Math.min(found.length, (index + 1) * step)}`; }
      return el("div", {}, el("p", { class: "muted" }, `The file in parts of ${bytes(most)}, the oldest first. What is dead lies where rows were changed later. Rows count with the mean size of their entity.`), picture,
        table({ caption: "Segments", page: 10, rows: found.map((each, index) => ({ ...each, index })), columns: [
          { name: "Number", number: true, value: each => each.index, cell: each => number(each.index + 1) }, { name: "Bytes", number: true, value: each => each.bytes, cell: each => bytes(each.bytes) },
          { name: "Rows", number: true, value: each => each.rows, cell: each => bytes(each.rows) }, { name: "Indexes", number: true, value: each => each.indexes, cell: each => bytes(each.indexes) },
          { name: "Dead", number: true, value: each => each.dead, cell: each => bytes(each.dead) }, { name: "", cell: each => meter(each.dead, each.bytes) } ] }));
    };
    """#

    static let time = #"""
    const showTime = (section, chosen) => {
      const found = data.time, points = found.points;
      if (found.failure) section.append(el("p", { class: "bad" }, `The list ends early: ${found.failure}`));
      if (!points.length) { section.append(el("p", { class: "muted" }, `There is no ${found.noun}.`)); return; }
      section.append(el("p", {}, `${found.isCut ? "The newest " : ""}${plural(points.length, found.noun)}, ${points.length > 1 ? `${moment(points[points.length - 1].time)} to ` : ""}${moment(points[0].time)}.`), points.length > 1 ? history(points) : "");
      const authors = [...new Set(points.map(point => point.author || ""))].sort(), names = [...new Set(points.flatMap(point => point.changes.map(change => change.name)))].sort();
      const author = el("select", {}, el("option", { value: "*" }, "Everybody"), authors.map(name => el("option", { value: name }, name || "(no author)")));
      const entity = el("select", {}, el("option", { value: "*" }, "Everything"), names.map(name => el("option", { value: name }, tableName(name))));
      const days = new Map();
      for (const point of points) days.set(dayOf(point), (days.get(dayOf(point)) || 0) + 1);
      const day = el("select", { id: "day" }, el("option", { value: "*" }, "Any day"), [...days].map(([name, count]) => el("option", { value: name }, `${name} (${number(count)})`)));
      const list = el("div");
      const refresh = () => {
        const rows = points.filter(point => (day.value === "*" || dayOf(point) === day.value) && (author.value === "*" || (point.author || "") === author.value)
          && (entity.value === "*" || point.changes.some(change => change.name === entity.value)));
        list.replaceChildren(el("p", {}, sums(rows)), table({
        caption: `${found.noun[0].toUpperCase() + found.noun.slice(1)}s, the newest first`, rows,
        columns: [
          { name: "Number", number: true, value: point => point.number, cell: point => point.objects ? link(["time", String(point.number)], number(point.number)) : number(point.number) },
          { name: "Time", nowrap: true, value: point => point.time, cell: point => time(point.time, true) },
          { name: "Author", value: point => point.author, cell: point => el("span", { class: "cell" }, point.author || "") },
          ...(points[0].bytes === undefined ? [] : [{ name: "Bytes", number: true, value: point => point.bytes, cell: point => bytes(point.bytes) }]),
          ...(!names.length && !points.some(point => point.rows) ? [] : [{ name: "Written", number: true, value: point => total(point, "written"), cell: point => number(total(point, "written")) },
            { name: "Deleted", number: true, value: point => total(point, "deleted"), cell: point => number(total(point, "deleted")) },
            { name: "What", cell: point => el("span", { class: "cell" }, changed(point)) }]),
        ] }));
      };
      // All changes of some commits, by entity and by author.
      const sums = rows => {
        const of = new Map(), by = new Map();
        for (const point of rows) {
          by.set(point.author || "no author", (by.get(point.author || "no author") || 0) + 1);
          for (const change of point.changes) { const sum = of.get(change.name) || { written: 0, deleted: 0 }; of.set(change.name, { written: sum.written + change.written, deleted: sum.deleted + change.deleted }); }
        }
        const shown = [...of].filter(([name]) => !name.startsWith("(")).sort((a, b) => b[1].written + b[1].deleted - a[1].written - a[1].deleted);
        return `${plural(rows.length, found.noun)}${by.size ? ` by ${[...by].map(([name, count]) => `${name} (${number(count)})`).join(", ")}` : ""}`
          + (shown.length ? `: ${shown.slice(0, 6).map(([name, sum]) => `${tableName(name)} ${counts(sum)}`).join("; ")}${shown.length > 6 ? "; …" : "."}` : ".");
      };
      day.addEventListener("change", refresh);
      author.addEventListener("change", refresh);
      entity.addEventListener("change", refresh);
      refresh();
      const point = points.find(each => String(each.number) === chosen);
      if (point) section.append(commit(point));
      section.append(el("div", { class: "tools" }, el("label", {}, "Day", day), el("label", {}, "Author", author), names.length ? el("label", {}, "Changed", entity) : null), list);
    };
    const dayOf = point => moment(point.time).split(" ")[0];
    // One commit with the objects that it changed.
    const commit = point => {
      const noun = data.time.noun, objects = point.objects || [], sums = sumOf(point.changes.filter(isOfObjects)), all = sums.written + sums.deleted, file = data.overview.path;
      return el("article", { class: "object", id: "commit", tabindex: -1 }, el("h3", {}, `${noun[0].toUpperCase() + noun.slice(1)} ${number(point.number)}`), el("dl", { class: "facts" },
        [["Time", time(point.time, true)], ["Author", point.author || "none"], ["Bytes", point.bytes === undefined ? null : bytes(point.bytes)], ["Changed", changed(point) || "nothing"],
          ["Old and new values", noun === "commit" && point.number > 1 ? el("code", {}, `heartwood report ${file} --diff --from ${point.number - 1} --to ${point.number} -o page.html`) : null]]
          .filter(pair => pair[1]).map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
        objects.length ? table({ caption: "Objects", page: 24, rows: objects, note: all > objects.length ? `the commit changed ${plural(all, "object")}` : "", columns: [
          { name: "Object", cell: object => objectLink(object.id) }, { name: "Entity", value: object => entityOf(object.id) ? entityOf(object.id).entity : "", cell: object => entityOf(object.id) ? entityOf(object.id).entity : "?" },
          { name: "Change", value: object => object.kind, cell: object => object.kind },
          ...(objects.some(object => object.properties.length) ? [{ name: "Properties", cell: object => object.properties.join(", ") }] : []) ] }) : null);
    };
    const total = (point, key) => sumOf(point.changes)[key];
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
