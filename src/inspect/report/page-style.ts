// The style of the page of a report: light and dark, as the reader's system is set, and black on white on paper.

export const pageStyle = `:root { color-scheme: light dark; --text: #1b1f24; --back: #fff; --line: #c8ced6; --head: #f0f3f6; --bad: #ffe3e0; --warn: #fff2cc; --note: #e2eeff; --target: #ffd54d; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --back: #14171b; --line: #434a54; --head: #21262d; --bad: #5c1f1b; --warn: #4d3d0c; --note: #17365f; --target: #7a5d00; } }
@media print { :root { --text: #000; --back: #fff; --line: #888; --head: #fff; } .scroll { overflow: visible; max-height: none; } }
body { margin: 1.5rem; color: var(--text); background: var(--back); font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.25rem 0 .35rem; }
a { color: inherit; }
.scroll { overflow: auto; max-height: 85vh; max-width: 100%; }
table { border-collapse: separate; border-spacing: 0; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border: 1px solid var(--line); border-width: 0 1px 1px 0; overflow-wrap: break-word; min-width: 5rem; max-width: 32rem; }
thead th { position: sticky; top: 0; z-index: 1; background: var(--head); border-top-width: 1px; }
tr :first-child { border-left-width: 1px; }
.matrix tbody th { position: sticky; left: 0; background: var(--head); font-weight: 600; }
.matrix thead th:first-child { left: 0; z-index: 2; }
.matrix .none { opacity: .6; }
.bad { background: var(--bad); } .warn { background: var(--warn); } .note { background: var(--note); }
p.bad { padding: .5rem; }
tr:target td { background: var(--target); }`;
