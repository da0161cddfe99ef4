// First paint and time until ready with a slowed processor, drag latency, keyboard, back button, links, requests.
import { open, address as URL0 } from "./browser.mjs";
import {loadavg} from 'node:os';
// first paint and interactive with CPU slowed 4x
{ const res=[]; for(let k=0;k<3;k++){ const {browser,page,context}=await open(); const cdp=await context.newCDPSession(page); await cdp.send('Emulation.setCPUThrottlingRate',{rate:4});
  const t=Date.now(); await page.goto(URL0+'#lesson=function-space'); await page.waitForFunction(()=>window.playground?.report.ready); const inter=await page.evaluate(()=>performance.now());
  const fcp=await page.evaluate(()=>new Promise(r=>{const e=performance.getEntriesByName('first-contentful-paint')[0]; if(e) r(e.startTime); else new PerformanceObserver(l=>r(l.getEntries()[0].startTime)).observe({type:'paint',buffered:true})}));
  res.push([+(fcp/1000).toFixed(2),+(inter/1000).toFixed(2)]); await browser.close(); } console.log('first paint, ready (s), 4x:',JSON.stringify(res),'load',loadavg()[0].toFixed(1)); }
{ const {browser,page,context,errors}=await open(); const reqs=[]; page.on('request',r=>reqs.push(r.url())); 
  await page.goto(URL0+'#lesson=function-space'); await page.waitForFunction(()=>window.playground?.report.ready);
  // guess by keyboard, lock, run
  await page.focus('#picture'); await page.keyboard.press('ArrowUp'); await page.keyboard.press('ArrowRight'); await page.keyboard.press('ArrowUp');
  await page.evaluate(()=>document.activeElement.blur()); await page.keyboard.press(' '); await page.waitForTimeout(200); await page.waitForFunction(()=>!playground.report.running,null,{timeout:60000});
  console.log('keyboard run ends at step', await page.evaluate(()=>playground.report.step), await page.evaluate(()=>document.querySelector('.score')?.innerText.replace(/\n/g,' ')));
  // drag latency: pointermove -> prediction redrawn
  const lat=await page.evaluate(async()=>{const c=document.getElementById('picture'); const b=c.getBoundingClientRect(); const app=playground; const s=app.setup; const X=x=>b.left+36+(x+2)/4*(b.width-48), Y=y=>b.top+12+(2-y)/4*(b.height-36);
    const ev=(t,x,y)=>c.dispatchEvent(new PointerEvent(t,{clientX:x,clientY:y,pointerId:1,bubbles:true}));
    c.setPointerCapture=()=>{}; ev('pointerdown',X(s.x[3]),Y(s.y[3])); const point=[],full=[]; const f=()=>new Promise(r=>requestAnimationFrame(r));
    for(let k=0;k<40;k++){ const t=performance.now(); const before=app.setup; ev('pointermove',X(0.1+0.01*k),Y(0.5-0.02*k)); await f(); point.push(performance.now()-t); while(app.setup===before||!app.report.ready) {await f(); if(performance.now()-t>2000) break;} await f(); full.push(performance.now()-t);} ev('pointerup',X(.5),Y(0));
    const q=(a,p)=>a.sort((x,y)=>x-y)[Math.floor(p*a.length)].toFixed(0); return {point:[q(point,.5),q(point,.95)], prediction:[q(full,.5),q(full,.95)]}});
  console.log('drag ms (median, 95 %):',JSON.stringify(lat),'load',loadavg()[0].toFixed(1));
  // back button
  await page.evaluate(()=>playground.neighbor(1)); await page.waitForTimeout(300); const h1=await page.evaluate(()=>location.hash); await page.goBack(); await page.waitForTimeout(500); console.log('back:',h1,'->',await page.evaluate(()=>location.hash.slice(0,40)), await page.evaluate(()=>playground.state.lesson));
  // link survives reload with same numbers
  const href=await page.evaluate(()=>location.href); const n1=await page.evaluate(()=>playground.report.predicted); await page.goto('about:blank'); await page.goto(href); await page.waitForFunction(()=>window.playground?.report.ready); console.log('same numbers from the link:', n1===await page.evaluate(()=>playground.report.predicted), 'requests', reqs.filter(u=>!u.startsWith('blob:')&&!u.startsWith('about:')).length-2, errors);
  await page.goto('about:blank'); await page.goto(URL0+'#activation=tanh&batchSize=10&dataset=spiral&regDataset=reg-plane&learningRate=0.03&regularizationRate=0&noise=10&networkShape=4,2&seed=0.43&x=true&y=true&xSquared=true&problem=classification'); await page.waitForFunction(()=>window.playground?.report.ready); console.log('tf link:', await page.evaluate(()=>JSON.stringify({d:playground.state.data,w:playground.state.width,l:playground.state.depth,f:playground.state.features,n:playground.state.noise})));
  await browser.close(); }
{ const {browser,page}=await open({reducedMotion:"reduce"}); await page.goto(URL0+'#lesson=free'); await page.waitForFunction(()=>window.playground?.report.ready); await page.waitForTimeout(1500); console.log('reduced motion: step', await page.evaluate(()=>playground.report.step+' running '+playground.report.running)); await browser.close(); }
