"""Names of things and what people call them, gathered for the benchmark apart from the product's own list."""

from __future__ import annotations

ALIASES = """
Kubernetes=k8s; PostgreSQL=postgres; JavaScript=js; TypeScript=ts; MongoDB=mongo; Elasticsearch=elastic
GitHub Actions=gha; Amazon Web Services=aws; Google Cloud Platform=gcp; Amazon S3=s3; Node.js=node; scikit-learn=sklearn
Visual Studio Code=vscode; JSON Web Token=jwt; single sign-on=sso; multi-factor authentication=mfa
Language Server Protocol=lsp; large language model=llm; Transport Layer Security=tls; Domain Name System=dns
write-ahead log=wal; regular expression=regex; graphics processing unit=gpu; command line interface=cli
continuous integration=ci; Model Context Protocol=mcp; virtual machine=vm; pull request=pr; PyTorch=torch; NumPy=np
Create React App=cra; React Native=rn; Ruby on Rails=ror; BigQuery=bq; DynamoDB=ddb; CockroachDB=crdb
Google Kubernetes Engine=gke; Elastic Kubernetes Service=eks; role-based access control=rbac
cross-origin resource sharing=cors; cross-site request forgery=csrf; cross-site scripting=xss
content delivery network=cdn; virtual private network=vpn; single-page application=spa; progressive web app=pwa
WebAssembly=wasm; Java Virtual Machine=jvm; garbage collector=gc; horizontal pod autoscaler=hpa
persistent volume claim=pvc; service level objective=slo; root cause analysis=rca; architecture decision record=adr
minimum viable product=mvp; proof of concept=poc; domain-driven design=ddd; test-driven development=tdd
internationalization=i18n; localization=l10n; accessibility=a11y; observability=o11y; foreign function interface=ffi
abstract syntax tree=ast; inter-process communication=ipc; GraphQL=gql; Tailwind=tw; custom resource definition=crd
"""


def alias_pairs() -> list[tuple[str, str]]:
    """Return (name, alias) in order."""
    entries = [entry.strip() for line in ALIASES.split("\n") for entry in line.split(";") if "=" in entry]
    return [(name, alias) for name, _, alias in (entry.partition("=") for entry in entries)]
