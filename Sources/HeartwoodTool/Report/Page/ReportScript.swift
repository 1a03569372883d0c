/// The script of a page. It puts texts of the data into text nodes and attributes alone, never into markup.
enum ReportScript {
    static let text = [
        base, formats, charts, cells, files, overview, model, neighbours, space, time, rows, search, queries, difference, views,
    ].joined(separator: "\n")

    /// Elements, and tables that sort and page.
    private static let base = #"""
    const data = JSON.parse(document.getElementById("data").textContent);
    const byId = id => document.getElementById(id);
    // Children are nodes, texts, or nothing; a text becomes a text node.
    const fill = (node, attributes, children) => {
      for (const [name, value] of Object.entries(attributes || {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name === "on") { for (const [event, run] of Object.entries(value)) node.addEventListener(event, run); }
        else node.setAttribute(name, value === true ? "" : String(value));
      }
      for (const child of children.flat(Infinity)) {
        if (child === undefined || child === null || child === false) continue;
        node.append(child instanceof Node ? child : document.createTextNode(String(child)));
      }
      return node;
    };
    const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
    const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
    const link = (address, ...children) => el("a", { href: "#" + address.map(encodeURIComponent).join("/") }, ...children);

    // Commands in a text of the tool stand between backquotes.
    const prose = text => String(text).split("`").map((part, index) => index % 2 ? el("code", {}, part) : part);

    const pageSize = 50;
    // columns: { name, number, value(row) for sorting, cell(row), nowrap, hint }
    const table = ({ caption, columns, rows, sort, descending, page = pageSize, note }) => {
      const state = { sort, descending: !!descending, start: 0 };
      const body = el("tbody"), head = el("tr"), count = el("span", { class: "muted", "aria-live": "polite" });
      const back = el("button", { type: "button", on: { click: () => move(-page) } }, "Previous");
      const next = el("button", { type: "button", on: { click: () => move(page) } }, "Next");
      let order = rows;
      const move = by => { state.start += by; show(); };
      const compare = (a, b) => {
        if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
        if (b === null || b === undefined) return -1;
        const result = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
        return state.descending ? -result : result;
      };
      const arrange = () => {
        const column = columns[state.sort];
        order = column && column.value ? rows.map(row => [column.value(row), row]).sort((a, b) => compare(a[0], b[0])).map(pair => pair[1]) : rows;
        state.start = 0;
        head.replaceChildren(...columns.map((column, index) => {
          const isSorted = index === state.sort;
          const choose = () => { state.descending = isSorted ? !state.descending : !!column.number; state.sort = index; arrange(); show(); head.children[index].querySelector("button").focus(); };
          return el("th", { scope: "col", title: column.hint, class: column.number ? "n" : null, "aria-sort": isSorted ? (state.descending ? "descending" : "ascending") : null },
            column.value ? el("button", { type: "button", on: { click: choose } }, column.name, isSorted ? (state.descending ? " ↓" : " ↑") : "") : column.name);
        }));
      };
      const show = () => {
        const part = order.slice(state.start, state.start + page);
        body.replaceChildren(...part.map(row => el("tr", {}, columns.map(column =>
          el("td", { class: column.number ? "n" : column.nowrap ? "w" : null }, column.cell(row))))));
        back.disabled = state.start === 0;
        next.disabled = state.start + page >= order.length;
        count.replaceChildren((order.length === 0 ? "Nothing" : `${number(state.start + 1)}–${number(state.start + part.length)} of ${number(order.length)}`) + (note ? ` · ${note}` : ""));
      };
      arrange();
      show();
      const region = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
        el("table", {}, el("caption", {}, caption), el("thead", {}, head), body));
      return el("div", {}, region, rows.length > page || note
        ? el("div", { class: "tools", style: null }, el("span", { class: "paging" }, back, " ", next), count) : null);
    };
    """#

    /// Numbers, bytes and times as people read them.
    private static let formats = #"""
    const number = value => {
      if (value === undefined || value === null) return "–";
      const size = Math.abs(value);
      return size >= 1e15 || size > 0 && size < 1e-6 ? String(value) : Number(value).toLocaleString("en-US", { maximumFractionDigits: 12 });
    };
    const bytes = value => {
      if (value === undefined || value === null) return "–";
      if (value < 1024) return `${value} B`;
      const units = ["KiB", "MiB", "GiB", "TiB"];
      let size = value / 1024, unit = 0;
      while (size >= 1024 && unit < 3) { size /= 1024; unit += 1; }
      return `${size.toFixed(size < 10 ? 2 : 1)} ${units[unit]}`;
    };
    const percent = (part, whole) => whole > 0 ? `${(100 * part / whole).toFixed(part / whole < 0.1 ? 1 : 0)} %` : "–";
    const two = value => String(value).padStart(2, "0");
    // Local time with its zone: 2026-11-30 06:05:10 +01:00.
    const moment = (milliseconds, fraction) => {
      const date = new Date(milliseconds);
      if (Number.isNaN(date.getTime())) return `${number(milliseconds / 1000)} s since 1970`;
      const away = -date.getTimezoneOffset(), sign = away < 0 ? "−" : "+";
      const rest = fraction && date.getMilliseconds() ? "." + String(date.getMilliseconds()).padStart(3, "0") : "";
      const year = date.getFullYear();
      return `${year < 0 || year > 9999 ? year : String(year).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
        `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}${rest} ` +
        `${sign}${two(Math.floor(Math.abs(away) / 60))}:${two(Math.floor(Math.abs(away)) % 60)}`;
    };
    const time = (milliseconds, fraction) => {
      const date = new Date(milliseconds), text = moment(milliseconds, fraction);
      return Number.isNaN(date.getTime()) ? text : el("time", { datetime: date.toISOString(), title: date.toISOString() }, text);
    };
    const plural = (count, noun, many) => `${number(count)} ${count === 1 ? noun : many || noun + "s"}`;
    """#

    /// Bars, and the tiles of a treemap.
    private static let charts = #"""
    // The width of the content: a picture is drawn for it, since a scaled one would have small letters.
    const room = () => Math.max(280, Math.min(1600, byId("content").clientWidth - (window.innerWidth <= 600 ? 32 : 64)));
    // A text that is cut so that it fits a width of a picture.
    const ruler = document.createElement("canvas").getContext("2d");
    const fit = (text, width, weight = 400) => {
      ruler.font = `${weight} 12px ${getComputedStyle(document.body).fontFamily}`;
      if (ruler.measureText(text).width <= width) return text;
      let letters = [...text];
      while (letters.length && ruler.measureText(letters.join("") + "…").width > width) letters.length -= 1;
      return letters.length > 1 ? letters.join("") + "…" : "";
    };
    const meter = (part, whole) => el("span", { class: "meter", "aria-hidden": "true" }, svg("svg", { width: "100%", height: 8, viewBox: "0 0 100 8", preserveAspectRatio: "none" },
      svg("rect", { class: "track", width: 100, height: 8 }), svg("rect", { class: "bar", width: whole > 0 ? Math.max(part > 0 ? 0.5 : 0, 100 * part / whole) : 0, height: 8 })));
    // Source: M. Bruls, K. Huizing, J. J. van Wijk, "Squarified treemaps", 2000
    const tiles = (parts, x, y, width, height) => {
      const total = parts.reduce((sum, part) => sum + part.bytes, 0), result = [];
      let rest = parts.filter(part => part.bytes > 0).map(part => ({ part, area: part.bytes / total * width * height }));
      const worst = (row, side) => {
        const sum = row.reduce((all, tile) => all + tile.area, 0), areas = row.map(tile => tile.area);
        return Math.max(side * side * Math.max(...areas) / (sum * sum), sum * sum / (side * side * Math.min(...areas)));
      };
      while (rest.length > 0) {
        const side = Math.min(width, height), row = [rest[0]];
        while (row.length < rest.length && worst([...row, rest[row.length]], side) <= worst(row, side)) row.push(rest[row.length]);
        const sum = row.reduce((all, tile) => all + tile.area, 0), thick = sum / side;
        let at = 0;
        for (const tile of row) {
          const length = tile.area / thick;
          result.push(width >= height ? { part: tile.part, x, y: y + at, width: thick, height: length } : { part: tile.part, x: x + at, y, width: length, height: thick });
          at += length;
        }
        if (width >= height) { x += thick; width -= thick; } else { y += thick; height -= thick; }
        rest = rest.slice(row.length);
      }
      return result;
    };
    """#
}
