/// The style sheet of a page. One accent colour, system fonts; each text has a contrast of at least 4.5 on its ground.
enum ReportStyle {
    static let text = #"""
    :root {
      --paper: #ffffff; --panel: #f5f6f8; --ink: #1b2330; --muted: #566070; --rule: #d6dbe2; --line: #78838f; --accent: #1c5aa0;
      --good: #1b6e35; --warn: #7d5200; --bad: #a8241c; --mark: #dfeaf7;
      --rows: #bcd5f0; --values: #93bce6; --index: #dfeaf7; --dead: #d9dce1; --other: #eceef1;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #14181d; --panel: #1c2229; --ink: #e3e7ec; --muted: #9ca7b3; --rule: #343d47; --line: #7f8b98; --accent: #82b6f2;
        --good: #72c988; --warn: #e2b562; --bad: #f48d84; --mark: #223349;
        --rows: #2a4a6e; --values: #35608f; --index: #20344c; --dead: #343a42; --other: #262c34;
      }
    }
    * { box-sizing: border-box; }
    html { font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; color: var(--ink); background: var(--paper); }
    body { margin: 0; overflow-wrap: anywhere; }
    h1, h2, h3 { margin: 0; line-height: 1.25; font-weight: 600; }
    h1 { font-size: 20px; }
    h2 { font-size: 18px; margin-bottom: 12px; }
    h3 { font-size: 14px; margin: 24px 0 8px; }
    h4 { margin: 14px 0 4px; font-size: 14px; font-weight: 600; }
    .columns h4:first-child { margin-top: 0; }
    h2:focus { outline: none; }
    p { margin: 0 0 8px; max-width: 80ch; }
    a { color: var(--accent); text-decoration: none; }
    a:hover { text-decoration: underline; }
    code, .mono { font: 12.5px/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
    .skip { position: absolute; left: -999px; }
    .skip:focus { left: 8px; top: 8px; background: var(--paper); padding: 8px; z-index: 2; }
    .muted { color: var(--muted); }
    .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
    header { padding: 20px 32px 0; border-bottom: 1px solid var(--rule); background: var(--panel); }
    header .top { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: baseline; max-width: 1600px; }
    header .top p { margin: 0; flex: 1 1 240px; max-width: none; }
    header form { flex: 0 1 240px; }
    header form input { width: 100%; }
    nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0 4px; margin: 14px 0 0 -10px; padding: 0; }
    nav a { display: block; padding: 7px 10px; color: var(--muted); border-bottom: 2px solid transparent; }
    nav a:hover { color: var(--ink); text-decoration: none; }
    nav a[aria-current] { color: var(--ink); border-bottom-color: var(--accent); font-weight: 600; }
    main { padding: 24px 32px 48px; max-width: 1664px; }
    footer { padding: 12px 32px; border-top: 1px solid var(--rule); color: var(--muted); }
    section[hidden] { display: none; }
    input, select, button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 4px; padding: 4px 8px; min-height: 30px; max-width: 100%; }
    ::placeholder { color: var(--muted); opacity: 1; }
    button { cursor: pointer; }
    button:disabled { color: var(--muted); border-color: var(--rule); cursor: default; }
    .tools { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: end; margin-bottom: 12px; }
    .tools label { display: grid; grid-template-columns: minmax(0, 1fr); gap: 2px; color: var(--muted); font-size: 12.5px; min-width: 0; }
    .tools label > * { color: var(--ink); font-size: 14px; }
    .tools label.check { display: flex; gap: 8px; align-items: center; min-height: 30px; font-size: 14px; }
    input, select { height: 32px; }
    input[type=checkbox] { width: 24px; height: 24px; min-height: 24px; margin: 0; }
    .tools label { max-width: min(320px, 100%); }
    .tools .push { margin-left: auto; }
    .columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 0 48px; }
    .halves { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 48px; }
    dl.facts { display: grid; grid-template-columns: fit-content(50%) minmax(0, 1fr); gap: 4px 20px; margin: 0; }
    dl.facts dt { color: var(--muted); overflow-wrap: anywhere; }
    details { margin-top: 24px; }
    summary { cursor: pointer; }
    dl.facts dd { margin: 0; white-space: pre-wrap; }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; }
    caption { text-align: left; color: var(--muted); padding-bottom: 6px; }
    th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--rule); vertical-align: top; font-weight: 400; overflow-wrap: break-word; }
    thead th { height: 33px; color: var(--muted); font-size: 12.5px; white-space: nowrap; vertical-align: middle; }
    th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    th.n button { justify-content: flex-end; }
    td.w { white-space: nowrap; }
    tbody tr:hover { background: var(--panel); }
    thead button { border: 0; padding: 0; min-height: 24px; background: none; color: inherit; display: flex; align-items: center; width: 100%; min-width: 24px; gap: 4px; font-size: inherit; }
    thead th[aria-sort] button { color: var(--ink); font-weight: 600; }
    td .cell { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; width: max-content; max-width: 36ch; overflow: hidden; overflow-wrap: break-word; }
    td.n .cell { margin-left: auto; }
    td img { display: block; max-width: 96px; max-height: 64px; margin-bottom: 2px; }
    dd img { display: block; max-width: 320px; max-height: 240px; }
    .meter { width: 120px; min-width: 60px; }
    .meter svg, .plan svg { display: block; }
    .meter { display: block; padding-top: 6px; }
    .verdict { font-size: 18px; font-weight: 600; margin: 0 0 4px; }
    .findings { margin: 0 0 8px; padding-left: 18px; }
    .advice { list-style: none; margin: 0; padding: 0; }
    .advice li { border-left: 2px solid var(--accent); padding-left: 12px; margin-bottom: 12px; }
    .advice code { display: block; margin-top: 2px; }
    dl.facts + p { margin-top: 10px; }
    .object { border: 1px solid var(--rule); border-radius: 6px; padding: 14px 16px; margin-bottom: 16px; background: var(--panel); }
    .object h3 { margin: 0 0 10px; }
    .object table { margin-top: 12px; }
    .diagram { border: 1px solid var(--rule); border-radius: 6px; overflow: auto; background: var(--paper); }
    .diagram svg { display: block; margin: 0 auto; }
    .diagram.fit svg { max-width: 100%; height: auto; }
    .hw-model a:hover text { fill: var(--accent); }
    .hw-model .hw-empty .hw-title { fill: var(--muted); font-weight: 400; }
    .hw-model .dim { opacity: .25; }
    .hw-model .lit .hw-line, .hw-model .lit .hw-end { stroke: var(--accent); stroke-width: 2; }
    .hw-model .lit .hw-box { stroke: var(--accent); }
    .entity { border-top: 1px solid var(--rule); padding-top: 4px; margin-top: 20px; }
    .entity h3 { margin: 10px 0 2px; font-size: 15px; }
    .treemap rect { stroke: var(--paper); stroke-width: 1; }
    .chart text, .treemap text, .plan text { fill: var(--ink); font-size: 12px; }
    .chart text.muted, .treemap text.muted, .plan text.muted { fill: var(--muted); }
    .treemap text.muted { fill: var(--ink); }
    .k-rows { fill: var(--rows); } .k-values { fill: var(--values); } .k-index { fill: var(--index); } .k-dead { fill: var(--dead); } .k-other { fill: var(--other); }
    .bar { fill: var(--accent); } .track { fill: var(--other); } .axis { stroke: var(--rule); }
    .key { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 8px 0 0; padding: 0; list-style: none; color: var(--muted); }
    .key svg { vertical-align: -1px; margin-right: 6px; }
    .side { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 24px; }
    ins, del { text-decoration: none; }
    @media (max-width: 1300px) { .halves { grid-template-columns: minmax(0, 1fr); } }
    @media (max-width: 900px) { .columns { grid-template-columns: minmax(0, 1fr); } }
    @media (max-width: 600px) {
      header, main, footer { padding-left: 16px; padding-right: 16px; }
      dl.facts { grid-template-columns: minmax(0, 1fr); gap: 0; }
      dl.facts dd { margin-bottom: 8px; }
      .tools .push { margin-left: 0; }
      .meter { display: none; }
    }
    @media print {
      :root { --paper: #fff; --panel: #fff; --ink: #000; --muted: #444; --rule: #bbb; --accent: #1c5aa0; color-scheme: light; }
      html { font-size: 10px; }
      header, main { padding-left: 0; padding-right: 0; }
      nav, header form, .tools label, .tools a, .tools button, .skip { display: none; }
      .columns, .halves { grid-template-columns: minmax(0, 1fr); }
      table { table-layout: auto; }
      th, td, td.n, td.w, thead th { white-space: normal; overflow-wrap: anywhere; padding-right: 6px; }
      td .cell, thead button { display: block; width: auto; min-width: 0; max-width: none; white-space: normal; overflow-wrap: anywhere; -webkit-line-clamp: none; }
      section[hidden] { display: block; }
      section { break-before: page; }
      section:first-child { break-before: auto; }
      tr, .object, .entity h3 { break-inside: avoid; }
      .scroll, .diagram { overflow: visible; border: 0; }
      .diagram svg { max-width: 100%; height: auto; }
    }
    """#
}
