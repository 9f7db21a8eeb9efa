"""Goals, each in two wordings that share as few words as people's wordings do; written for this benchmark."""

from __future__ import annotations

GOALS = """
keep reads going while somebody writes | avoid blocking readers during an update
make the app start faster | cut the launch time of the program
stop the same job from running twice | guarantee a task is executed only once
find out who changed a record | keep an audit trail of edits
let people sign in with their company account | support corporate single sign-on
free disk space on the build machines | get rid of old artifacts that fill the CI drives
warn us before a certificate expires | get an alert ahead of TLS renewal deadlines
undo a bad release quickly | roll back to the previous version in minutes
make error messages understandable | tell users what went wrong in plain words
send fewer e-mails to customers | reduce the number of notifications people receive
protect passwords if the database leaks | keep credentials safe after a breach
see why a request is slow | trace where latency comes from
let two people edit one document | enable simultaneous collaboration on a page
keep the tests from failing at random | get rid of flaky checks
move data out of the old system | migrate records from the legacy platform
support right-to-left languages | display Arabic and Hebrew correctly
survive the loss of a data centre | stay available when a region goes down
show the page before everything has loaded | render content progressively
block abusive clients | throttle users who send too many calls
share code between the web and mobile teams | reuse modules across platforms
make reviews shorter | keep pull requests small
know which features are used | measure product adoption
deploy without downtime | ship new versions while staying online
let users take their data with them | offer an export of personal information
delete accounts on request | comply with the right to be forgotten
pay less for storage | lower the bill for cloud buckets
answer questions about the code base | help newcomers understand the repository
recover files deleted by mistake | bring back what was accidentally removed
prevent secrets from being committed | keep API keys out of version control
make search tolerate spelling mistakes | find things despite typos
print invoices in the customer's language | localise billing documents
avoid paying twice after a network error | make payment retries idempotent
keep memory low on small devices | fit into limited RAM
test without calling real services | replace external dependencies with fakes
tell bots from people | detect automated traffic
run big reports at night | schedule heavy queries outside office hours
notice a broken backup | verify that snapshots can be restored
let old clients keep working | stay backward compatible
remove code nobody calls | clean up dead functions
agree on one style of code | enforce consistent formatting
ask for consent before tracking | respect the visitor's privacy choice
make the map usable offline | allow navigation with no internet
sort results by what matters to the user | rank hits by personal relevance
reject files that carry viruses | scan uploads for malware
spread load over all servers | balance traffic evenly between machines
know how long a task will take | estimate remaining time
join duplicate customer entries | merge records describing one person
let administrators act as a user | impersonate an account for support
pick up where an interrupted upload ended | resume transfers after a dropped connection
keep two databases the same | synchronise replicas
stop a query that runs forever | enforce a time limit on statements
read configuration from one place | centralise settings
learn from past incidents | write postmortems after outages
shorten the feedback loop of developers | let engineers see results of a change sooner
grow without rewriting everything | scale the architecture step by step
give each tenant separate data | isolate customers from one another
show numbers that are always current | refresh dashboards in real time
make the site usable with a keyboard | improve accessibility for people who can't use a mouse
reduce the size of the download | shrink the bundle shipped to browsers
find memory that is never released | hunt leaks
keep a history of prices | store how the cost of items developed over the years
invite colleagues to a workspace | add team members
decide which task comes next | prioritise the backlog
make the model explain itself | give reasons for predictions
detect fraud early | spot suspicious transactions at once
let customers pay in instalments | split a purchase into monthly amounts
keep clocks of all machines equal | synchronise time across hosts
convert old documents to the new format | transform legacy files automatically
avoid merge conflicts in generated files | stop lock files from clashing between branches
install without administrator rights | set up as an ordinary user
hide unfinished features | put incomplete work behind flags
keep logs for a year | retain event records twelve months
see the effect of a design on sales | run A/B experiments on conversion
respond within a tenth of a second | hit a 100 ms latency target
teach users the shortcuts | make people aware of hotkeys
forbid access from outside the office | restrict logins by network location
avoid vendor lock-in | stay free to switch cloud providers
let machines be rebuilt from scratch | make infrastructure reproducible
spot regressions in speed | catch performance drops before release
handle daylight saving time correctly | be right when clocks go forward
make database changes reversible | write down migrations for every schema alteration
let support see what the customer sees | replay user sessions
cope with sudden popularity | absorb traffic spikes
keep personal data inside the country | satisfy data residency rules
replace the manual checklist | automate the steps before publishing
discover services automatically | let components find each other without fixed addresses
make sure messages are not lost | deliver every event at least once
read scanned papers | extract text from images
suggest products people like | recommend items by taste
avoid asking for the same data again | cache answers of remote calls
let anyone report a bug easily | lower the barrier for submitting issues
tell apart test and live environments | make it obvious which stage one is in
rotate keys regularly | renew credentials on a schedule
work with slow connections | stay usable on poor bandwidth
archive projects nobody touches | put inactive repositories away
compress images without visible loss | make pictures smaller and keep their quality
keep customers informed during an outage | publish a status page
speed up the type checker | make static analysis take less time
avoid surprises on the cloud bill | set spending alerts
number documents without gaps | give consecutive ids to invoices
let scripts use the product | offer a programmable interface
recognise returning visitors | remember people who have been here before
choose colours that everybody can tell apart | design for colour-blind readers
limit what a plugin may do | sandbox third-party extensions
turn speech into notes | transcribe meetings
fill forms with what is known already | prepopulate fields for the user
"""


def goal_pairs() -> list[tuple[str, str]]:
    """Return (as noted, as asked) in order."""
    pairs = [line.split(" | ") for line in GOALS.strip().splitlines()]
    return [(noted.strip(), asked.strip()) for noted, asked in pairs]
