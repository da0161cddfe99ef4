// Frames per second while running, processor time per frame, and the longest task of the main thread.
import { open, address as URL0 } from "./browser.mjs";
import {readFileSync} from 'node:fs';
import {loadavg} from 'node:os';
const {browser,page,errors}=await open();
const cases={'width 512':'w=512&d=1','width 2048':'w=2048&d=1','2 layers of 256':'w=256&d=2','2D 8x2':'data=circle'};
for(const [name,q] of Object.entries(cases)){
  await page.goto('about:blank');
  await page.goto(URL0+(q.startsWith('data')?`#lesson=free&${q}&t=20000`:`#lesson=free&data=sine&n=48&a=r&${q}&t=20000&o=s`)); await page.waitForFunction(()=>window.playground?.report.ready);
  await page.evaluate(()=>playground.run()); await page.waitForTimeout(1500);
  await browser.startTracing(page,{path:'build/trace.json',categories:['toplevel','disabled-by-default-devtools.timeline','devtools.timeline']});
  const r=await page.evaluate(async()=>{let raf=0,fresh=0,last=-1;const t0=performance.now();await new Promise(done=>{const f=()=>{raf++;const s=playground.report.step;if(s!==last){fresh++;last=s}if(performance.now()-t0>5000)return done();requestAnimationFrame(f)};requestAnimationFrame(f)});return {raf,fresh,dt:performance.now()-t0}});
  await browser.stopTracing();
  const ev=JSON.parse(readFileSync('build/trace.json')).traceEvents; const names={};
  for(const e of ev) if(e.name==='thread_name') names[e.pid+':'+e.tid]=e.args.name;
  const stat={};
  for(const e of ev){const th=names[e.pid+':'+e.tid]; if(e.ph!=='X'||!(th==='CrRendererMain'||th==='DedicatedWorker thread')) continue; if(!/RunTask|ThreadControllerImpl::RunTask/.test(e.name)) continue; const k=th; stat[k]??={cpu:0,max:0,n:0,wallmax:0}; stat[k].cpu+=(e.tdur||0)/1000; stat[k].max=Math.max(stat[k].max,(e.tdur||0)/1000); stat[k].wallmax=Math.max(stat[k].wallmax,e.dur/1000); stat[k].n++}
  const m=stat.CrRendererMain, w=stat['DedicatedWorker thread'];
  console.log(name,'frames/s wall',(r.raf/r.dt*1000).toFixed(1),'fresh',(r.fresh/r.dt*1000).toFixed(1),'| main CPU ms/frame',(m.cpu/r.raf).toFixed(2),'longest main task CPU',m.max.toFixed(1),'wall',m.wallmax.toFixed(1),'| worker CPU ms per fresh frame',(w?.cpu/r.fresh).toFixed(2),'load',loadavg()[0].toFixed(1));
}
await browser.close();
