"""How the page of reproduced papers looks: on a phone, in the dark, on paper."""

CSS = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #57606a; --line: #d0d7de; --card: #f6f8fa;
  --link: #0b5394; --holds: #0a6b4b; --fails: #a33a00; --differs: #7a5200; --other: #4a4f57; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --paper: #14171a; --faint: #a3abb3; --line: #3a4148;
  --card: #1d2226; --link: #7cb8f0; --holds: #57c79f; --fails: #ff9a66; --differs: #e6b455; --other: #b8bec5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 2px solid var(--line); }
h4 { margin: 0 0 .3rem; } a { color: var(--link); } p { margin: .4rem 0; }
nav a { display: inline-block; margin-right: .8rem; } nav summary a { font-weight: 600; }
summary { cursor: pointer; padding: .3rem 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .875rem; }
caption { text-align: left; color: var(--faint); padding-bottom: .3rem; }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left; }
td { font-variant-numeric: tabular-nums; } .summary td { text-align: right; }
.claim, figure, .loose { border: 1px solid var(--line); border-radius: 8px; background: var(--card); margin: 1rem 0;
  padding: .8rem 1rem; } .says, .how { color: var(--faint); }
figure img { width: 100%; height: auto; display: block; background: #fff; border-radius: 4px; }
figcaption { margin: .6rem 0; } .judged { padding-left: 1.1rem; }
.badge { border: 1px solid currentColor; border-radius: 1rem; padding: 0 .55rem; font-size: .8rem; font-weight: 600;
  white-space: nowrap; color: var(--other); }
.badge.holds { color: var(--holds); } .badge.fails { color: var(--fails); }
.badge.differs, .badge.erratum { color: var(--differs); }
@media (max-width: 40rem) { body { font-size: 15px; } main, .claim, figure, .loose { padding: .6rem; } }
@media print { :root { --ink: #000; --paper: #fff; --faint: #333; --card: #fff; --link: #000; --line: #999; }
  body { font-size: 10pt; } main { max-width: none; } .claim, figure { break-inside: avoid; }
  figure details { display: none; }
  h2 { break-before: page; } nav a { text-decoration: none; } }
"""
