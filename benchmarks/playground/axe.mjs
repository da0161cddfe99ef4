// axe-core on every lesson, light and dark, desktop and phone; sizes of touch targets and horizontal scrolling on the phone.
import { open, require, address as URL0 } from "./browser.mjs";
import {readFileSync} from 'node:fs';
const axe=readFileSync(require.resolve('axe-core/axe.min.js'),'utf8');
let total=0, runs=0;
for(const scheme of ['light','dark']) for (const [w,h] of [[1400,900],[390,844]]){
  const {browser,page,errors}=await open({viewport:{width:w,height:h},colorScheme:scheme,hasTouch:w<500,isMobile:w<500});
  await page.goto(URL0); await page.waitForFunction(()=>window.playground?.report.ready);
  const ids=await page.evaluate(()=>[...document.querySelectorAll('nav select option')].map(o=>o.value));
  for(const id of ids){
    await page.goto('about:blank'); await page.goto(URL0+'#lesson='+id); await page.waitForFunction(()=>window.playground?.report.ready); await page.waitForTimeout(150);
    await page.evaluate(axe);
    for (const phase of w>500?['before','after']:['before']){
      if(phase==='after'){await page.evaluate(()=>{document.querySelectorAll('.question button.quiet')[0]?.click(); document.querySelector('.panel.loss .q').click()}); await page.waitForTimeout(100);}
      const v=await page.evaluate(async()=>(await axe.run(document)).violations.map(v=>v.id+': '+v.nodes.slice(0,2).map(n=>n.target.join(' ')+' '+(n.any[0]?.message||'')).join(' | ')));
      runs++; total+=v.length; if(v.length) console.log(scheme,w,id,phase,v);
    }
    if(w<500){const o=await page.evaluate(()=>{document.querySelector('details.sheet').open=true; const small=[...document.querySelectorAll('button,select,input:not([type=checkbox]):not([type=radio]),.control.check,.choices label')].filter(e=>e.offsetParent&&(e.getBoundingClientRect().height<43.5)).map(e=>e.outerHTML.slice(0,70)); return [document.documentElement.scrollWidth-390, small]}); if(o[0]>0||o[1].length) console.log('phone',id,JSON.stringify(o));}
  }
  if(errors.length) console.log('errors',errors); await browser.close();
}
console.log('axe runs',runs,'violations',total);
