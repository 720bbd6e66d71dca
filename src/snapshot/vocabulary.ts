import { REASONS } from "../model/reason.ts";

/** What servers and flipop say beside the texts of reasons: no word of it names anybody. */
const OTHERS = `
  a able about accept accepted acquire acquired assign attach detach move publish published serve serves unassign unassigned action actions active after again ago all allowed already also an and annotated annotation annotations answer answered any api as asked assigned at attached away back bad
  be because been before beyond both broke broken but by call calls can cannot carries carry changed check code conflict connect connection could create created did dns do
  does done down error errors every exceeded exist exists expired failed failure few find firewall flipop follow for forbidden found from gateway get given gone grant had has have
  held http https id if in inside internal into invalid ip ips is it its kept kubernetes last later lease left less limit limited list listed longer longest lost machine machines made many matching
  may message method missing more moved must name named needs network next no nobody node nodes none nor not nothing now of off ok old on once one only open or other others out over own owned
  permission permitted pod pods pool port ports possible provider providers put rate read ready reason record records refused region released remaining removed request requested required reserved
  reserved_ip response retry routedip run said saw says scope scopes second seconds see seen selector sent server service services set shows since so some spec status still such taken tcp tell than
  that the their them then there they this through timeout time times to token too took tried try ttl udp unauthorized unavailable under unexpected unknown unprocessable until up update updated use
  add added allow allows although attempts began budget busy candidate candidates cause cleared clears client clients cordoned deletion desired drain drains either empty end ended expires free full
  grants itself known lets like limits lowered maximum meanwhile moving noschedule number obstacle others ours person persons present previous purchase purchases quota reading remains remember remembers replaces
  reservation resolver resolvers right running same sends serving spare stand stands starts stays still stop stopped stored succeeded sure tainted takes tells therefore times unfinished unless unpublished
  waiting watched withdraw withdrawal withdrawn withdrew withdraws working written wrote
  used user verb wait waited waits wants was were what when where which while who whole will with within without write written wrong yet you zone zones`;

/** Words of sentences that name nobody, in lower case. */
export const VOCABULARY: ReadonlySet<string> = new Set(
  [OTHERS, JSON.stringify(REASONS)]
    .flatMap((text) => text.match(/[\p{L}\p{N}_]+/gu) ?? [])
    .map((word) => word.toLowerCase()),
);
