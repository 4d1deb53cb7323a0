/** The look of the description: that of the console, in both of its themes. */
export const docsStyle = `
:root {
  color-scheme: light dark;
  --text: #1c1f24; --quiet: #5b6470; --line: #e3e6ea; --page: #ffffff; --raised: #f6f7f9; --accent: #3056d3;
  --get: #1f7a4d; --post: #3056d3; --patch: #8a5a00; --put: #8a5a00; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6e8eb; --quiet: #9aa3ae; --line: #2a2f36; --page: #111418; --raised: #191d23; --accent: #8ea8ff;
    --get: #6fcf97; --post: #8ea8ff; --patch: #e0b15c; --put: #e0b15c; --delete: #ff8a80;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; display: grid; grid-template-columns: 14rem minmax(0, 1fr); color: var(--text); background: var(--page);
  font: 15px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
}
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.25rem 1rem; border-right: 1px solid var(--line); }
nav ul { list-style: none; margin: 1rem 0 0; padding: 0; }
nav a { display: block; padding: .2rem .5rem; border-radius: 6px; color: var(--quiet); text-decoration: none; }
nav a:hover { color: var(--text); background: var(--raised); }
nav .home { color: var(--text); font-weight: 600; }
main { padding: 2rem clamp(1rem, 4vw, 3rem) 6rem; max-width: 62rem; }
h1 { font-size: 1.6rem; margin: 0 0 .75rem; letter-spacing: -.01em; }
h2 { font-size: 1.15rem; margin: 3rem 0 .75rem; padding-bottom: .4rem; border-bottom: 1px solid var(--line); }
h3 { font-size: .95rem; margin: 0; font-weight: 600; overflow-wrap: anywhere; }
h4 { font-size: .8rem; margin: .9rem 0 .3rem; color: var(--quiet); font-weight: 600; }
p { margin: .4rem 0; }
a { color: var(--accent); text-underline-offset: 2px; }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
article { margin: 1.25rem 0; padding: 1rem 1.1rem; border: 1px solid var(--line); border-radius: 10px; }
article:target, tr:target { border-color: var(--accent); background: var(--raised); }
code, pre { font: 13px/1.55 ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, Consolas, monospace; }
pre { margin: .3rem 0; padding: .75rem .9rem; overflow: auto; background: var(--raised); border-radius: 8px; }
pre i { color: var(--quiet); font-style: normal; }
.method { display: inline-block; min-width: 3.6rem; font: 600 12px/1 ui-monospace, monospace; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .put { color: var(--put); } .delete { color: var(--delete); }
.anchor { color: var(--quiet); text-decoration: none; }
.access, .status { display: inline-block; padding: 0 .45rem; border: 1px solid var(--line); border-radius: 999px; color: var(--quiet); font-size: .78rem; }
table { display: block; overflow: auto; border-collapse: collapse; margin: .6rem 0; font-size: .87rem; }
th { text-align: start; color: var(--quiet); font-weight: 600; }
th, td { padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
dt { font-weight: 600; margin-top: .5rem; }
dd { margin: 0; color: var(--quiet); }
@media (max-width: 48rem) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  nav ul { display: flex; flex-wrap: wrap; }
}
`;
