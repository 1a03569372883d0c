/// The body of a page before its data: the landmarks that the script fills.
enum ReportBody {
    /// - Parameter diagram: SVG; empty for none.
    static func text(diagram: String) -> String {
        #"""
        <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
        <div class="top"><h1 id="title"></h1><p id="subtitle" class="muted"></p>
        <form id="search" role="search"><input type="search" id="words" aria-label="Search the rows of this page" placeholder="Search rows" autocomplete="off"></form></div>
        <nav aria-label="Views"><ul id="views"></ul></nav>
        </header>
        <main id="content" tabindex="-1"><noscript><p>This page shows its data by a script of its own, which this browser does not run.</p></noscript></main>
        <footer id="foot"></footer>
        <template id="diagram">
        """# + diagram + "</template>"
    }
}
