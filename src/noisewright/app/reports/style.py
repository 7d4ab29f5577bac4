"""How every page looks: on a screen by day and by night, on a phone, on paper."""

CSS = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #57606a; --line: #d0d7de; --card: #f6f8fa;
  --link: #0b5394; --good: #0a6b4b; --accent: #0b5394; --soft: #dbe9f6;
  --c0: #0072b2; --c1: #b84a00; --c2: #00795a; --c3: #a8487f; --c4: #8a6100; --c5: #4a4f57; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --paper: #14171a; --faint: #a3abb3; --line: #3a4148;
  --card: #1d2226; --link: #7cb8f0; --good: #57c79f; --accent: #7cb8f0; --soft: #203246;
  --c0: #56b4e9; --c1: #ff9a66; --c2: #57c79f; --c3: #e29cc4; --c4: #e6b455; --c5: #b8bec5; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, "Segoe UI", sans-serif; }
main { max-width: 50rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; overflow-wrap: break-word; }
header { border-bottom: 3px solid var(--accent); padding-bottom: 1rem; margin-bottom: 1.5rem; }
.kicker { color: var(--accent); font-weight: 600; letter-spacing: .04em; margin: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .25rem 0 .75rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.5rem 0 .5rem; padding-top: .5rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
p { margin: .5rem 0; max-width: 44rem; } .lead { font-size: 1.125rem; } .note { color: var(--faint); }
ul { padding-left: 1.25rem; } li { margin: .3rem 0; max-width: 43rem; } a { color: var(--link); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.cards div { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .75rem 1rem; }
.cards dt { color: var(--faint); font-size: .875rem; line-height: 1.35; } .cards dl, .cards dd { margin: 0; }
.cards dd { font-size: 1.3rem; font-weight: 600; line-height: 1.3; margin-top: .2rem; }
.facts { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .35rem 1.25rem; margin: .75rem 0; }
.facts dt { color: var(--faint); } .facts dd { margin: 0; min-width: 0; }
.promise { background: var(--soft); border-left: 4px solid var(--accent); border-radius: 0 10px 10px 0;
  padding: .75rem 1.1rem; margin: 1rem 0; } .promise p { margin: .25rem 0; }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .9rem; line-height: 1.4; width: 100%; }
caption { text-align: left; color: var(--faint); padding-bottom: .4rem; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--line); } tbody th { font-weight: 500; min-width: 6.5rem; }
td, .number { font-variant-numeric: tabular-nums; } .number { text-align: right; white-space: nowrap; }
tr.first th, tr.first td { font-weight: 700; }
figure { margin: 1rem 0; } figcaption { color: var(--faint); font-size: .9rem; margin-top: .35rem; }
figure svg { display: block; width: 100%; height: auto; max-width: 34rem; }
figure img { display: block; width: 100%; min-width: 34rem; height: auto; background: #fff; border-radius: 6px; }
svg text { font: 14px system-ui, "Segoe UI", sans-serif; fill: var(--ink); } svg .faint { fill: var(--faint); }
svg .strong { font-weight: 700; } svg .axis { stroke: var(--line); stroke-width: 1; }
svg .track { fill: var(--card); stroke: var(--faint); } svg .mark { fill: var(--ink); }
svg .b0 { fill: var(--c0); } svg .b1 { fill: var(--c1); } svg .b2 { fill: var(--c2); } svg .b3 { fill: var(--c3); }
svg .b4 { fill: var(--c4); } svg .b5 { fill: var(--c5); }
svg .l0 { stroke: var(--c0); } svg .l1 { stroke: var(--c1); } svg .l2 { stroke: var(--c2); }
svg .l3 { stroke: var(--c3); }
svg .l4 { stroke: var(--c4); } svg .l5 { stroke: var(--c5); }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
code, pre { font: .875rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
code { overflow-wrap: anywhere; }
.command { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .6rem .9rem;
  margin: .6rem 0; display: block; }
details { margin: 1rem 0; } summary { cursor: pointer; color: var(--link); padding: .25rem 0; }
.saved { max-height: 20rem; overflow: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .75rem; } pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .75rem; color: var(--faint); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 40rem) { main { padding: 1.1rem .9rem 3rem; } h1 { font-size: 1.5rem; } .lead { font-size: 1.05rem; }
  .facts { grid-template-columns: 1fr; gap: 0; } .facts dd { margin-bottom: .6rem; } }
@page { size: A4; margin: 18mm 16mm; }
@media print { :root { color-scheme: light; --ink: #000; --paper: #fff; --faint: #444; --card: #f4f6f8; --link: #000;
  --line: #b5bcc4; --good: #0a6b4b; --accent: #0b5394; --soft: #eaf2fa;
  --c0: #0072b2; --c1: #b84a00; --c2: #00795a; --c3: #a8487f; --c4: #8a6100; --c5: #4a4f57; }
  body { font-size: 10pt; } main { max-width: none; padding: 0; } h1 { font-size: 19pt; } h2 { font-size: 13pt; }
  h2, h3 { break-after: avoid; } figure, tr, .cards, .promise, .command { break-inside: avoid; }
  figure svg { max-width: 13.5cm; } figure img { min-width: 0; } .scroll { overflow: visible; }
  thead { display: table-header-group; }
  details { display: none; } * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
