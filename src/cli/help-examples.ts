import { wrap } from "../report/text/layout.ts";

/** As wide as commander's own help. */
export const HELP_WIDTH = 80;

/** What stands at the end of a command's help. Indented lines are examples; sentences between empty lines are one paragraph. */
const EXAMPLES = {
  plan: `
  flipop plan pool/ingress/web node/worker-1
  flipop plan --if node/worker-1=NotReady --if +5m
  flipop plan --if pool/ingress/web.desiredIPs=2
  flipop plan -f web.yaml
  flipop plan --save friday.json      read it; then reconcile --plan friday.json
  flipop plan -f web.yaml -o markdown --detailed-exitcode   for a pull request

flipop help edits lists what --if can say. Objects of -f take the place of those that the cluster has. --detailed-exitcode exits with 2 when there is something to change.`,

  explain: `
  flipop explain ip/203.0.113.10 node/worker-6   why is it not there?
  flipop explain pool/ingress/web                why not on all addresses?
  flipop explain www.example.com
  flipop explain QuotaExceeded                   what the word means

"Smallest change" is computed: with all of its facts it comes true, without any one of them it does not.
flipop plan --if EDIT shows what one of them would do.`,

  simulate: `
  flipop simulate                                what comes next, and when?
  flipop simulate --if node/worker-1=NotReady
  flipop simulate -f web.yaml --expect no-outage=30s
  flipop simulate --n-1                          which node may be lost?
  flipop simulate --drain worker-3
  flipop simulate --rolling-upgrade node-pool=edge --surge 1 --expect no-outage

It is told as if flipop saw every change at once, as with --watch, and as if every call succeeded. flipop help edits lists what --if can say.
With --expect it exits with 6 when a name is without service for longer.`,

  reconcile: `
  flipop reconcile --settle                      until nothing is left to do
  flipop reconcile pool/ingress/web              for one object
  flipop reconcile --watch --metrics-addr :8080  go on until it is stopped
  flipop reconcile --watch -o jsonl              a RunResult for each change
  flipop plan --save friday.json && flipop reconcile --plan friday.json

flipop plan is the dry run. With --plan it does what stands in the saved plan and nothing else: no recovery either that has become
necessary since. What has changed since the plan was saved is refused by name, the rest is done; it exits with 4 then.`,

  status: `
  flipop status -o wide
  flipop status pool/ingress/web www.example.com
  flipop status --check && echo fine
  flipop status --check --wait 2m                after an apply: is all well?
  flipop status --watch                          print each row that changes
  flipop status --watch -o jsonl                 a Status for each change
  flipop status --live pool/ingress/web          what all of them say now

In what --live shows, = agrees with what is stored. It needs the rights and the tokens of flipop plan, and makes the calls of one run that finds nothing to do. With --check it
exits with 6 when something differs that the next run does not put right, or cannot be read.`,

  history: `
  flipop history                                 of all, the last 24 hours
  flipop history ip/203.0.113.10 --since 7d
  flipop history pool/ingress/web --failed
  kubectl -n flipop logs -l app.kubernetes.io/name=flipop --prefix --tail=-1 |
    flipop history --logs -

A cluster keeps Events for about an hour, status the last times only; logs reach as far back as they are kept.`,

  snapshot: `
  flipop snapshot world.yaml
  flipop plan --from world.yaml --if node/worker-1=NotReady
  flipop status --from world.yaml
  flipop snapshot --pods ingress/app=api world.yaml
  flipop plan --from world.yaml --if pool/ingress/web.match.podLabel=app=api
  flipop snapshot --anonymize world.yaml         to show it to strangers

It holds the objects of flipop, the nodes, and what providers show of the addresses and names that objects ask for; no token, no URL, no name of a pod, and of the
nodes only the labels that selectors read. Writes nothing but the file, which only its owner may read.
Objects may be edited in a plan of it, too. A selector that no object has needs its pods, with --pods, and its labels of nodes, with --node-labels.
With --anonymize no name and no address of the world is in it: worker-1 becomes n2014-2003, and of texts only the words that flipop
knows are left. What came first by name still does, so plan, explain and simulate say the same with other names.`,

  validate: `
  flipop validate web.yaml
  kustomize build . | flipop validate -
  flipop validate -R manifests/ --fail-on warning
  flipop validate --cluster web.yaml       would a person have to act then?
  flipop validate -R manifests/ -o sarif > findings.sarif

What it finds has a code: flipop help findings lists them all. It exits with 6 when there are errors.`,

  doctor: `
  flipop doctor                        is everything all right?
  flipop doctor -o wide                show what is fine, too
  flipop doctor --pre                  before flipop is installed
  flipop doctor --as-service-account --only permissions
  flipop doctor --skip FLP104 --fail-on warning

Marks: = fine, ~ warning, ! fails, ? could not be looked at, . not applicable. It exits with 6 when something fails, else with 0.
flipop help checks lists all codes, flipop help FLP122 tells more of one.`,

  host: `
  flipop host --node-name worker-1 --dry-run     what would be changed here?
  flipop host --node-name worker-1               keep it so until it is stopped
  flipop host --remove --once                    take away what it added here
  flipop manifests --only host | kubectl apply -f -   on every node

It goes by the annotation flipop.digitalocean.com/host-addresses of the node, which flipop reconcile writes for objects with hostAddress: Managed. Addresses that it
did not add are left alone. When it is stopped they stay, so that traffic goes on. It needs root and the capability NET_ADMIN, and may read nodes only.`,

  sandbox: `
  flipop sandbox world                 then, in another terminal:
  . world/exports.sh
  flipop reconcile --watch             and in a third one, after the same line:
  kubectl cordon worker-1

It holds what flipop --sandbox=world works on, and both may run at a time. Nothing but this machine reaches it; whoever does may do everything in it.`,

  manifests: `
  flipop manifests | kubectl apply -f -
  flipop manifests --mode watch --namespace networking
  flipop manifests --only crds,policy
  flipop manifests --shard 1/2 --shard 2/2   flipop help shards tells of shards`,

  completion: `
  source <(flipop completion bash)              in ~/.bashrc
  source <(flipop completion zsh)               in ~/.zshrc, behind compinit
  flipop completion fish | source               in ~/.config/fish/config.fish
  flipop completion powershell | Out-String | Invoke-Expression
                                                in $PROFILE

Names of objects, nodes and addresses are asked of the cluster that the words before choose, for at most 0.3 s. Where that is too little, as with an exec
plugin that is slow to log in, FLIPOP_COMPLETION_TIMEOUT=2s gives it more.`,

  approve: `
  flipop approve pool/ingress/web
  flipop approve routedip/ingress/vip --for 1h --yes

Shows what the object would take from somebody, asks, and writes one annotation. It holds for these things only: one more, or another spec, needs another
approval. The next run carries it out. Needs the tokens of the providers, as plan does, and the right to patch the object.`,

  suspend: `
  flipop suspend pool/ingress/web --for 2h --reason "maintenance 4711"
  flipop suspend --all --for 30m --reason "provider incident"
  flipop resume pool/ingress/web

A suspended object is looked at and reported, and nothing is changed for it: a failed node keeps its address.
A run that has already begun goes on with what it saw. Writes one annotation, no spec; needs the right to patch the object, with --all the Lease.`,

  resume: `
  flipop resume pool/ingress/web
  flipop resume --all                  after flipop suspend --all

What spec.suspend suspends goes on when the spec says so.`,

  version: `
  flipop version
  flipop version -o json               and the version of Node.js`,

  help: `
  flipop help reconcile
  flipop help exit-codes
  flipop help QuotaExceeded            what the word means, and what to do`,

  flipop: `
  flipop plan                          what would change, and why
  flipop reconcile --settle            make it so
  flipop status -o wide                where every address is, and what DNS says
  flipop --sandbox plan                try it without a cluster or an account

Every flag can also be set as an environment variable: --request-timeout as FLIPOP_REQUEST_TIMEOUT.
Tokens come from the environment only: DIGITALOCEAN_ACCESS_TOKEN, CLOUDFLARE_TOKEN and HCLOUD_TOKEN, or files in …_FILE.`,
} as const;

/** Returns the end of a command's help, or of `flipop`'s own: examples as they are written, and paragraphs wrapped. */
export function examplesOf(name: keyof typeof EXAMPLES): string {
  const [first = "", ...paragraphs] = EXAMPLES[name].trim().split("\n\n");
  const wrapped = paragraphs.map((text) => wrap(text.replaceAll("\n", " "), "", HELP_WIDTH).join("\n"));
  return ["", "Examples:", `  ${first}`, ...wrapped.map((text) => `\n${text}`)].join("\n");
}
