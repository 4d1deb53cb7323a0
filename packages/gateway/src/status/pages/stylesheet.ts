/** The one style sheet of the status page: dark and light by the system, from 320 pixels on, and for paper. */
export const stylesheet = `:root{color-scheme:light dark;--ground:#fff;--raised:#f7f8fa;--ink:#14181f;--soft:#59626f;--line:#e3e6eb;--link:#1d4ed8;
--operational:#1f9d55;--degraded:#c58a00;--partial:#d9620f;--outage:#d0312d;--unknown:#b7bec8;--maintenance:#2f6fde;--p50:#2f6fde;--p95:#9db8e8}
@media(prefers-color-scheme:dark){:root{--ground:#0d1014;--raised:#14181f;--ink:#e8ebf0;--soft:#98a2b0;--line:#252b34;--link:#8ab4ff;
--operational:#35c274;--degraded:#e3b341;--partial:#f0883e;--outage:#f4605a;--unknown:#3c4551;--maintenance:#6ea0ff;--p50:#6ea0ff;--p95:#3d5687}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;font-variant-numeric:tabular-nums}
.top,main,footer{max-width:54rem;margin:0 auto;padding:0 1.25rem}
.top{display:flex;justify-content:space-between;align-items:center;padding-top:1.5rem;padding-bottom:1.25rem}
.top p{margin:0}.name a{color:inherit;text-decoration:none;font-weight:650;font-size:1.05rem;letter-spacing:-.01em}.name span{color:var(--soft);margin-left:.35rem}
.top nav a{display:inline-block;padding:.4rem 0}
a{color:var(--link);text-underline-offset:.2em}
a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:3px;border-radius:3px}
h1,h2,h3{margin:0;letter-spacing:-.012em;line-height:1.3}
h1{font-size:1.45rem;font-weight:650}h2{font-size:1rem;font-weight:600;margin:2.75rem 0 .6rem}h3{font-size:.98rem;font-weight:600;overflow-wrap:anywhere}
.overall{display:flex;gap:1rem;align-items:center;padding:1.4rem 1.5rem;border:1px solid var(--line);border-left:5px solid var(--unknown);border-radius:10px;background:var(--raised)}
.overall .glyph{width:30px;height:30px;flex:none}.overall p{margin:.15rem 0 0;color:var(--soft)}
.overall.operational{border-left-color:var(--operational)}.overall.degraded{border-left-color:var(--degraded)}.overall.partial{border-left-color:var(--partial)}.overall.outage{border-left-color:var(--outage)}.overall.maintenance{border-left-color:var(--maintenance)}
.simulated{margin:1rem 0 0;padding:.7rem 1rem;border:1px dashed var(--degraded);border-radius:8px}
.glyph{width:16px;height:16px;flex:none;vertical-align:-3px;fill:none;stroke:currentColor;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
.glyph.operational{color:var(--operational)}.glyph.degraded{color:var(--degraded)}.glyph.partial{color:var(--partial)}.glyph.outage{color:var(--outage)}.glyph.unknown{color:var(--soft)}.glyph.maintenance{color:var(--maintenance)}
article{padding:1.05rem 0;border-top:1px solid var(--line)}section>article:last-child{border-bottom:1px solid var(--line)}
article header{display:flex;justify-content:space-between;align-items:baseline;gap:1rem;flex-wrap:wrap}
.state{margin:0;color:var(--soft);white-space:nowrap;display:flex;gap:.4rem;align-items:center}
.bars,.chart{display:block;width:100%;overflow:visible}
.bars{height:34px;margin:.7rem 0 .35rem}.bars rect:hover{opacity:.6}
.bars .operational{fill:var(--operational)}.bars .degraded{fill:var(--degraded)}.bars .partial{fill:var(--partial)}.bars .outage{fill:var(--outage)}.bars .unknown{fill:var(--unknown)}
.axis{display:flex;justify-content:space-between;gap:.75rem;margin:0;color:var(--soft);font-size:.8rem;flex-wrap:wrap}
details{margin-top:.55rem}summary{cursor:pointer;color:var(--soft);font-size:.87rem;padding:.2rem 0}summary span{margin-left:.75rem}
summary:hover{color:var(--ink)}.days{list-style:none;margin:.3rem 0 0;padding:0;font-size:.87rem;color:var(--soft)}.days li{padding:.15rem 0}
.plot{position:relative;margin:.6rem 0 .35rem}.plot .top{position:absolute;left:0;top:-.2rem;padding:0;color:var(--soft);font-size:.75rem}
.chart{height:130px}.chart path{fill:none;vector-effect:non-scaling-stroke}.grid{stroke:var(--line);stroke-width:1}
.chart .p50{stroke:var(--p50);stroke-width:1.8}.chart .p95{stroke:var(--p95);stroke-width:1.4}.chart .failed{stroke:var(--outage);stroke-width:3}
.tip{fill:transparent}.tip:hover{fill:var(--soft);fill-opacity:.14}
.legend{display:flex;gap:.1rem 1rem;flex-wrap:wrap;margin:.25rem 0 0;color:var(--soft);font-size:.8rem}.legend i{display:inline-block;width:.8rem;height:3px;vertical-align:middle;margin-right:.35rem;border-radius:2px}
i.p50{background:var(--p50)}i.p95{background:var(--p95)}i.failed{background:var(--outage)}
.incident h3{display:flex;gap:.5rem;align-items:center}.incident p{margin:.3rem 0 0}.incident ol{list-style:none;margin:.5rem 0 0;padding:0 0 0 .95rem;border-left:2px solid var(--line)}
.incident li{margin:.3rem 0;overflow-wrap:anywhere;white-space:pre-line}.incident time{color:var(--soft);margin-right:.5rem;white-space:nowrap}
.quiet{color:var(--soft);margin:0}.how{margin:0;padding-left:1.1rem;color:var(--soft)}.how li{margin:.3rem 0}
.rest{list-style:none;margin:.75rem 0 0;padding:0;columns:16rem;color:var(--soft)}.rest li{overflow-wrap:anywhere;break-inside:avoid}
.siblings{list-style:none;margin:0;padding:0;display:flex;gap:.5rem 1.5rem;flex-wrap:wrap}.siblings span{color:var(--soft)}
dl{margin:0;display:grid;gap:.35rem}dl div{display:flex;justify-content:space-between;gap:1rem;flex-wrap:wrap;border-top:1px solid var(--line);padding-top:.5rem}dt{color:var(--soft)}dd{margin:0}
footer{display:flex;justify-content:space-between;gap:1rem;flex-wrap:wrap;margin-top:3rem;padding-top:1rem;padding-bottom:2.5rem;color:var(--soft);font-size:.87rem}footer p{margin:0}footer a{margin-left:1rem}footer a:first-child{margin-left:0}
@media(max-width:34rem){.top,main,footer{padding-left:1rem;padding-right:1rem}.overall{padding:1.1rem}h1{font-size:1.2rem}summary span{display:block;margin-left:0}.incident time{display:block}}
@media(forced-colors:active){.bars rect,.chart path,.legend i{forced-color-adjust:none}}
@media print{:root{--ground:#fff;--raised:#fff;--ink:#000;--soft:#444}.top nav,footer a,.tip{display:none}article,.incident{break-inside:avoid}.bars rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}body{font-size:11pt}}
`;
