import { compileExpression } from '../../src/policy/cel/expression.ts';
import { compileRegex } from '../../src/policy/regex.ts';
const vars = {variables:['object','oldObject','request','namespaceObject'] as const};
const ns = {metadata:{name:'team-blue-project',labels:{team:'blue','kubernetes.io/metadata.name':'team-blue',env:'prod'}, annotations:{contact:'a@b.c'}}};
for (const e of ["object.metadata.name.size() <= 40","!(has(namespaceObject.metadata.labels) && 'archived' in namespaceObject.metadata.labels)","object.metadata.name.matches('^team-[a-z0-9-]+$')","object.metadata.labels.all(k, k.size() < 64)","object.metadata.labels['team'] in ['blue','green']","object.metadata.?labels['team'].orValue('x') == 'blue'", "object.metadata.labels.nope == 'x'","quantity('500m').isLessThan(quantity('1'))"]) {
  const c = compileExpression(e, vars, 'bool'); if(!c.ok) throw new Error(c.problem.message);
  const b = {object:ns,namespaceObject:ns};
  for (let i=0;i<50000;i++) c.expression.evaluate(b);
  const N=500000; const t=process.hrtime.bigint(); for (let i=0;i<N;i++) c.expression.evaluate(b);
  console.log((Number(process.hrtime.bigint()-t)/N/1000).toFixed(3),'us',e);
}
{ const t=process.hrtime.bigint(); for(let i=0;i<1000;i++) compileExpression("has(object.metadata.labels) && object.metadata.labels.all(k, k.size() < "+i+")",vars,'bool'); console.log('compile us',Number(process.hrtime.bigint()-t)/1e6); }
const ann: Record<string,string>={}; for(let i=0;i<60000;i++) ann['key-'+i]='v'+i;
for (const e of ["object.all(a, object.all(b, a != b || a == b))","object.all(a, object[a].size() > 0)","object.all(a, object.all(b, object.exists(c, false)))","optional.of('aaaaaaaaaa').optMap(x,x+x)"+".optMap(x,x+x)".repeat(60)+".hasValue()","object.map(a, object.map(b, a+b)).size() > 0","lists.range(100000000).size() > 0","object.map(a, a).join('"+'x'.repeat(1000)+"').replace('x', '"+'y'.repeat(1000)+"').size() > 0","object.map(a,a).distinct().size() > 0","object == oldObject","object.all(a, a.matches('^(a+)+$'))","sets.contains(object.map(a,a), object.map(a,a))","object.all(a, a in object.map(b,b))", "object.exists(a, object == oldObject)","'"+"x".repeat(1000)+"'.matches('(x{500}){2}y')", "object.all(a, (a + 'x').matches(a + '(b{1000})'))","object.map(a,a).map(b, [b,b,b]).flatten().map(c,[c,c,c]).flatten().map(d,[d,d,d]).size()>0"]) {
  const c = compileExpression(e, vars, 'bool'); if(!c.ok) {console.log(e.slice(0,60),c.problem.message);continue;}
  const t=process.hrtime.bigint(); const r=c.expression.evaluate({object:ann,oldObject:{...ann}}); console.log(e.slice(0,60),JSON.stringify(r).slice(0,80),Number(process.hrtime.bigint()-t)/1e6,'ms');
}
for (const p of ['^(a+)+$','(a|b)*c','(x{500}){2}y','.*.*.*x']) { const r=compileRegex(p); if(!r.ok){console.log(p,r.problem);continue;} for (const n of [50000,100000,200000]) { const s='a'.repeat(n)+'!'; const t=process.hrtime.bigint(); r.regex.search(s); console.log(p,r.regex.size,n,Number(process.hrtime.bigint()-t)/1e6,'ms'); } }
