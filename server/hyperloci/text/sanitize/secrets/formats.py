"""Formats: secrets recognised by their format, as a table. Data only.

Nearly all have a prefix that their provider publishes so that scanners can find them; they are redacted everywhere.
Secrets recognised by what stands before them are in `contexts.py`.

To add a format: one row, the narrowest pattern that its provider documents, and a row in `bench/redaction_corpus.py`
that makes such a secret. Every quantifier is possessive or bounded, so that no input costs more than linear time.
"""

from __future__ import annotations

from typing import Final

from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True)
class TokenRule:
    """A secret known by its shape.

    Attributes:
        kind: what stands in the placeholder.
        keywords: literals of which at least one is in every such secret; the pattern runs only where one is found.
        pattern: the secret, without its left and right boundary.
        anchored: every such secret begins with the keyword.
    """

    kind: str
    keywords: tuple[str, ...]
    pattern: str
    anchored: bool = True


_HEX32: Final = "[0-9a-f]{32}"
_UUID: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

TOKENS: Final = (
    # Clouds
    TokenRule("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    TokenRule("aws-bedrock-key", ("ABSK",), r"ABSK[A-Za-z0-9+/]{100,}+={0,2}"),
    TokenRule("aws-bedrock-key", ("bedrock-api-key-",), r"bedrock-api-key-[A-Za-z0-9+/]{40,}+={0,2}"),
    TokenRule("gcp-api-key", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    TokenRule("gcp-api-key", ("AQ.Ab",), r"AQ\.Ab[A-Za-z0-9_-]{40,}+"),
    TokenRule("gcp-oauth-secret", ("GOCSPX-",), r"GOCSPX-[A-Za-z0-9_-]{28}"),
    TokenRule("gcp-oauth-token", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{20,}+"),
    TokenRule("gcp-oauth-token", ("1//0",), r"1//0[A-Za-z0-9_-]{40,}+"),
    TokenRule("firebase-server-key", ("AAAA",), r"AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{140}"),
    TokenRule("azure-client-secret", ("Q~",), r"[A-Za-z0-9_.~-]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,34}", False),
    TokenRule("azure-devops-token", ("AZDO",), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", False),
    TokenRule("azure-key", ("JQQJ99",), r"[A-Za-z0-9]{50,60}JQQJ99[A-Za-z0-9]{20,30}", False),
    TokenRule(
        "azure-storage-key",
        ("AccountKey=", "SharedAccessKey="),
        r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{42,88}={0,2}",
    ),
    TokenRule("azure-sas", ("sig=",), r"sig=[A-Za-z0-9%+/]{40,90}={0,2}"),
    TokenRule("alibaba-access-key", ("LTAI",), r"LTAI[A-Za-z0-9]{12,24}"),
    TokenRule("tencent-secret-id", ("AKID",), r"AKID[A-Za-z0-9]{32}"),
    TokenRule("yandex-key", ("AQVN",), r"AQVN[A-Za-z0-9_-]{35,38}"),
    TokenRule("yandex-token", ("y0_", "y1_", "y2_", "y3_"), r"y[0-3]_[A-Za-z0-9_-]{50,}+"),
    TokenRule("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[a-f0-9]{64}"),
    TokenRule("heroku-key", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{36,}+"),
    TokenRule("fly-token", ("fo1_", "fm1r_", "fm1a_", "fm2_"), r"(?:fo1|fm1[ar]|fm2)_[A-Za-z0-9+/=_-]{40,}+"),
    TokenRule("render-key", ("rnd_",), r"rnd_[A-Za-z0-9]{28,}+"),
    TokenRule("vercel-token", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), r"vc[aciprk]_[A-Za-z0-9_-]{40,}+"),
    TokenRule("netlify-token", ("nfp_", "nfc_", "nfo_", "nfb_"), r"nf[bcop]_[A-Za-z0-9]{36,}+"),
    TokenRule("cloudflare-key", ("v1.0-",), r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    TokenRule("cloudflare-key", ("cfut_", "cfat_", "cfk_"), r"(?:cfut|cfat|cfk)_[A-Za-z0-9]{40,}+"),
    TokenRule("scaleway-key", ("SCW",), r"SCW[A-Z0-9]{17}"),
    TokenRule("exoscale-key", ("EXO",), r"EXO[a-f0-9]{24}"),
    # Databases and platforms
    TokenRule("supabase-key", ("sbp_", "sb_secret_"), r"(?:sbp_[A-Za-z0-9_-]{40}|sb_secret_[A-Za-z0-9_-]{20,}+)"),
    TokenRule("neon-key", ("napi_",), r"napi_[a-z0-9]{40,}+"),
    TokenRule("planetscale-token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}"),
    TokenRule("mongodb-atlas-secret", ("mdb_sa_sk_",), r"mdb_sa_sk_[A-Za-z0-9_-]{30,}+"),
    TokenRule("cockroach-key", ("CCDB1_",), r"CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}"),
    TokenRule("databricks-token", ("dapi",), r"dapi[a-f0-9]{32}(?:-[0-9])?"),
    TokenRule("doppler-token", ("dp.",), r"dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    TokenRule("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}+", False),
    TokenRule("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{24,}+"),
    TokenRule("pulumi-token", ("pul-",), r"pul-[a-f0-9]{40}"),
    TokenRule("tailscale-key", ("tskey-",), r"tskey-[a-z]{2,12}-[A-Za-z0-9_-]{20,}+"),
    TokenRule("1password-token", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/_-]{200,}+={0,2}"),
    TokenRule("1password-key", ("A3-",), r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    TokenRule("age-secret-key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    TokenRule("openshift-token", ("sha256~",), r"sha256~[A-Za-z0-9_-]{43}"),
    TokenRule("docker-swarm-key", ("SWMTKN-1-",), r"SWMTKN-1-[a-z0-9]{40,60}-[a-z0-9]{20,30}"),
    TokenRule("docker-swarm-key", ("SWMKEY-1-",), r"SWMKEY-1-[A-Za-z0-9+/]{40,}+={0,2}"),
    # Source hosting, packages, continuous integration
    TokenRule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[oprsu]_[A-Za-z0-9]{36,}+"),
    TokenRule("github-token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{60,}+"),
    TokenRule(
        "gitlab-token",
        ("glpat-", "gldt-", "glrt", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glcbt-", "glffct-"),
        r"gl(?:pat|dt|rt|ptt|ft|imt|agent|oas|soat|cbt|ffct|rtr)-[A-Za-z0-9_-]{20,}+(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?",
    ),
    TokenRule("gitlab-token", ("GR1348941",), r"GR1348941[A-Za-z0-9_-]{20}"),
    TokenRule("bitbucket-token", ("ATBB",), r"ATBB[A-Za-z0-9]{24,}+"),
    TokenRule("atlassian-token", ("ATATT3", "ATCTT3", "ATSTT3"), r"AT[ACS]TT3[A-Za-z0-9_=-]{60,}+"),
    TokenRule("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{36,}+"),
    TokenRule("pypi-token", ("pypi-AgE",), r"pypi-AgE[A-Za-z0-9_-]{50,}+"),
    TokenRule("rubygems-key", ("rubygems_",), r"rubygems_[a-f0-9]{48}"),
    TokenRule("crates-token", ("cio",), r"cio[A-Za-z0-9]{32}"),
    TokenRule("nuget-key", ("oy2",), r"oy2[a-z0-9]{43}"),
    TokenRule("docker-token", ("dckr_pat_", "dckr_oat_"), r"dckr_[op]at_[A-Za-z0-9_-]{24,}+"),
    TokenRule("clojars-token", ("CLOJARS_",), r"CLOJARS_[a-z0-9]{60}"),
    TokenRule("jfrog-key", ("AKCp", "cmVm"), r"(?:AKCp[A-Za-z0-9]{60,}+|cmVm[A-Za-z0-9]{56,}+)"),
    TokenRule("circleci-token", ("CCIPAT_", "CCIPRJ_"), r"CCIP(?:AT|RJ)_[A-Za-z0-9]{10,40}_[A-Za-z0-9]{40}"),
    TokenRule(
        "buildkite-token",
        ("bkua_", "bkpt_", "bkct_", "bkar_", "bkaj_"),
        r"bk(?:ua|pt|ct|ar|aj)_[A-Za-z0-9_=-]{32,}+",
    ),
    TokenRule("sonar-token", ("squ_", "sqp_", "sqa_"), r"sq[apu]_[a-f0-9]{40}"),
    TokenRule("sourcegraph-token", ("sgp_",), r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    TokenRule("postman-key", ("PMAK-",), r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    TokenRule("launchdarkly-key", ("sdk-", "mob-", "api-"), rf"(?:sdk|mob|api)-{_UUID}"),
    TokenRule("prefect-key", ("pnu_", "pnb_"), r"pn[ub]_[a-zA-Z0-9]{36}"),
    TokenRule("infracost-key", ("ico-",), r"ico-[A-Za-z0-9]{32}"),
    # Models
    TokenRule("anthropic-key", ("sk-ant-",), r"sk-ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{32,}+"),
    TokenRule("openrouter-key", ("sk-or-",), r"sk-or-(?:v1-)?[a-f0-9]{48,64}"),
    TokenRule("langfuse-key", ("sk-lf-",), rf"sk-lf-{_UUID}"),
    TokenRule(
        "openai-key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"),
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{32,}+",
    ),
    TokenRule("openai-key", ("sk-",), r"sk-[A-Za-z0-9]{32,}+"),
    TokenRule("huggingface-token", ("hf_", "api_org_"), r"(?:hf|api_org)_[A-Za-z0-9]{30,}+"),
    TokenRule("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{40,}+"),
    TokenRule("xai-key", ("xai-",), r"xai-[A-Za-z0-9_-]{60,}+"),
    TokenRule("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{40,}+"),
    TokenRule("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{37}"),
    TokenRule("nvidia-key", ("nvapi-",), r"nvapi-[A-Za-z0-9_-]{60,}+"),
    TokenRule("cerebras-key", ("csk-",), r"csk-[a-z0-9]{40,}+"),
    TokenRule("fireworks-key", ("fw_",), r"fw_[A-Za-z0-9]{22,24}"),
    TokenRule("together-key", ("tgp_v1_",), r"tgp_v1_[A-Za-z0-9_-]{40,}+"),
    TokenRule("tavily-key", ("tvly-",), r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{30,}+"),
    TokenRule("pinecone-key", ("pcsk_",), r"pcsk_[A-Za-z0-9_]{50,}+"),
    TokenRule("voyage-key", ("pa-",), r"pa-[A-Za-z0-9_-]{43}"),
    TokenRule("jina-key", ("jina_",), r"jina_[a-f0-9]{32}[A-Za-z0-9_-]{20,}+"),
    TokenRule("elevenlabs-key", ("sk_",), r"sk_[a-f0-9]{48}"),
    TokenRule("langsmith-key", ("lsv2_",), r"lsv2_(?:pt|sk)_[0-9a-fA-F]{32}_[0-9a-fA-F]{10}"),
    TokenRule("wandb-key", ("wandb_v1_",), r"wandb_v1_[A-Za-z0-9_]{60,}+"),
    TokenRule("cursor-key", ("crsr_",), r"crsr_[a-f0-9]{60,}+"),
    TokenRule("e2b-key", ("e2b_",), r"e2b_[a-f0-9]{40}"),
    TokenRule("firecrawl-key", ("fc-",), rf"fc-{_HEX32}"),
    TokenRule("brave-key", ("BSA",), r"BSA[A-Za-z0-9_-]{27,40}"),
    # Messages
    TokenRule("slack-token", ("xox",), r"(?:xoxe\.)?xox[abceoprs]-(?:[0-9]-)?[A-Za-z0-9-]{20,}+"),
    TokenRule("slack-token", ("xapp-",), r"xapp-[0-9]-[A-Z0-9]{2,}+-[0-9]{6,}+-[A-Za-z0-9]{4,}+"),
    TokenRule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{8,12}/[A-Z0-9]{8,16}/[A-Za-z0-9/]{20,64}",
    ),
    TokenRule(
        "discord-token",
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        r"(?:M[Tjz]|N[DTjz]|O[DT])[A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
    ),
    TokenRule(
        "discord-webhook",
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[A-Za-z0-9_-]{60,}+",
        False,
    ),
    TokenRule("telegram-token", (":AA",), r"(?:bot)?[0-9]{8,16}:AA[A-Za-z0-9_-]{33}", False),
    TokenRule(
        "teams-webhook",
        ("/IncomingWebhook/",),
        r"(?:[a-z0-9-]{1,40}\.webhook\.office|outlook\.office(?:365)?)\.com/webhook(?:b2)?/[0-9a-zA-Z@-]{3,80}"
        r"/IncomingWebhook/[0-9a-zA-Z]{32}(?:/[0-9a-zA-Z_-]{1,80}){0,2}",
        False,
    ),
    TokenRule("twilio-key", ("SK",), r"SK[0-9a-fA-F]{32}"),
    TokenRule("sendgrid-key", ("SG.",), r"SG\.(?:[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|[A-Za-z0-9_=.-]{66})"),
    TokenRule("mailgun-key", ("key-",), rf"key-{_HEX32}"),
    TokenRule("mailgun-key", ("-",), rf"{_HEX32}-[0-9a-f]{{8}}-[0-9a-f]{{8}}", False),
    TokenRule("mailchimp-key", ("-us",), rf"{_HEX32}-us[0-9]{{1,2}}", False),
    TokenRule("brevo-key", ("xkeysib-", "xsmtpsib-"), r"x(?:key|smtp)sib-[a-fA-F0-9]{64}-[A-Za-z0-9]{16}"),
    TokenRule("resend-key", ("re_",), r"re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}"),
    TokenRule("mailersend-token", ("mlsn.",), r"mlsn\.[a-f0-9]{64}"),
    TokenRule("hubspot-token", ("pat-na", "pat-eu", "pat-ap"), rf"pat-(?:na|eu|ap)[0-9]-{_UUID}"),
    TokenRule("klaviyo-key", ("pk_",), r"pk_[a-f0-9]{34}"),
    # Payments and shops
    TokenRule(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"),
        r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}+",
    ),
    TokenRule("webhook-secret", ("whsec_",), r"whsec_[A-Za-z0-9+/]{24,}+={0,2}"),
    TokenRule("square-token", ("sq0atp-", "sq0csp-"), r"sq0(?:at|cs)p-[A-Za-z0-9_-]{22,}+"),
    TokenRule("square-token", ("EAAA",), r"EAAA[A-Za-z0-9_-]{22,60}+"),
    TokenRule(
        "braintree-token",
        ("access_token$",),
        rf"access_token\$(?:production|sandbox)\$[0-9a-z]{{16}}\${_HEX32}",
    ),
    TokenRule(
        "plaid-token",
        ("access-sandbox-", "access-development-", "access-production-"),
        rf"access-(?:sandbox|development|production)-{_UUID}",
    ),
    TokenRule("flutterwave-key", ("FLWSECK",), r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?"),
    TokenRule(
        "shopify-token",
        ("shpat_", "shpca_", "shppa_", "shpss_", "shpua_"),
        r"shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}",
    ),
    TokenRule("shippo-token", ("shippo_",), r"shippo_(?:live|test)_[a-f0-9]{40}"),
    TokenRule("easypost-key", ("EZAK", "EZTK"), r"EZ[AT]K[A-Za-z0-9]{54}"),
    TokenRule("duffel-token", ("duffel_",), r"duffel_(?:live|test)_[A-Za-z0-9_=-]{43}"),
    TokenRule("lob-key", ("live_", "test_"), r"(?:live|test)_[a-f0-9]{35}"),
    # Work and social
    TokenRule("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{40,}+"),
    TokenRule("notion-token", ("secret_",), r"secret_[A-Za-z0-9]{43}"),
    TokenRule("linear-key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+"),
    TokenRule("airtable-token", ("pat",), r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    TokenRule("figma-token", ("figd_", "figo_", "figu_", "figr_"), r"fig[doru]_[A-Za-z0-9_-]{36,}+"),
    TokenRule("clickup-token", ("pk_",), r"pk_[0-9]{6,9}_[A-Z0-9]{32}"),
    TokenRule("typeform-token", ("tfp_",), r"tfp_[A-Za-z0-9_.=-]{40,}+"),
    TokenRule("contentful-token", ("CFPAT-",), r"CFPAT-[A-Za-z0-9_-]{43}"),
    TokenRule("dropbox-token", ("sl.",), r"sl\.[A-Za-z0-9_.=-]{100,}+"),
    TokenRule("facebook-token", ("EAA",), r"EAA[A-Za-z0-9]{80,}+"),
    TokenRule("twitter-token", ("AAAAAAAAAAAAAAAAAAAAA",), r"AAAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%]{60,}+"),
    TokenRule("mapbox-token", ("sk.eyJ",), r"sk\.eyJ[A-Za-z0-9_-]{40,}+\.[A-Za-z0-9_-]{20,}+"),
    TokenRule("frameio-token", ("fio-u-",), r"fio-u-[A-Za-z0-9_=-]{60,}+"),
    TokenRule("readme-key", ("rdme_",), r"rdme_[a-z0-9]{60,}+"),
    # Watching
    TokenRule("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9+/=_-]{60,}+"),
    TokenRule(
        "grafana-token",
        ("glc_", "glsa_"),
        r"(?:glc_[A-Za-z0-9+/]{32,}+={0,2}|glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8})",
    ),
    TokenRule("newrelic-key", ("NRAK-", "NRII-", "NRJS-", "NRIQ-"), r"NR(?:AK|II|JS|IQ)-[A-Za-z0-9_-]{19,32}"),
    TokenRule(
        "dynatrace-token",
        ("dt0c01.", "dt0e01.", "dt0s01.", "dt0s02.", "dt0s16."),
        r"dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}",
    ),
    TokenRule("honeycomb-key", ("hcaik_", "hcbik_", "hcxik_", "hcamk_"), r"hc[a-z](?:ik|mk|lk)_[a-z0-9]{50,}+"),
    TokenRule("posthog-key", ("phx_",), r"phx_[A-Za-z0-9_-]{40,}+"),
    TokenRule("axiom-token", ("xaat-", "xapt-"), rf"xa[ap]t-{_UUID}"),
    TokenRule("inngest-key", ("signkey-",), r"signkey-[a-z]{2,12}-[a-f0-9]{32,64}"),
    TokenRule("grafana-token", ("eyJrIjoi",), r"eyJrIjoi[A-Za-z0-9_-]{40,}+={0,2}"),
    # Others
    TokenRule("adobe-secret", ("p8e-",), r"p8e-[A-Za-z0-9]{32}"),
    TokenRule("aikido-token", ("AIK_",), r"AIK_[A-Z]{2,8}_[A-Za-z0-9]{20,}+"),
    TokenRule("aiven-token", ("AVNS_",), r"AVNS_[A-Za-z0-9_-]{15,}+"),
    TokenRule("alibaba-sts-key", ("STS.",), r"STS\.[A-Za-z0-9]{20,30}"),
    TokenRule("asaas-key", ("$aact_",), r"\$aact_[A-Za-z0-9_-]{30,}+"),
    TokenRule("astra-token", ("AstraCS:",), r"AstraCS:[A-Za-z0-9]{20,}+(?::[a-f0-9]{32,})?"),
    TokenRule("bitbucket-token", ("BBDC-",), r"BBDC-[A-Za-z0-9+/=_-]{38,}+"),
    TokenRule("cloudsmith-key", ("csa_",), r"csa_[a-f0-9]{36,}+"),
    TokenRule("cartesia-key", ("sk_car_",), r"sk_car_[A-Za-z0-9]{20,}+"),
    TokenRule("configcat-key", ("configcat-sdk-1/",), r"configcat-sdk-1/[A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{22}"),
    TokenRule("definednet-key", ("dnkey-",), r"dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}"),
    TokenRule("devin-key", ("cog_", "apk_"), r"(?:cog_[a-z0-9]{52}|apk_[A-Za-z0-9+/_-]{60,}+={0,2})"),
    TokenRule("devcycle-key", ("dvc_",), r"dvc_(?:client|mobile|server)_[A-Za-z0-9_-]{12,}+"),
    TokenRule("elastic-key", ("essu_",), r"essu_[A-Za-z0-9_-]{40,}+={0,2}"),
    TokenRule("endorlabs-key", ("endr+",), r"endr\+[A-Za-z0-9-]{16}"),
    TokenRule("gitlab-session", ("_gitlab_session=",), r"_gitlab_session=[a-z0-9]{32}"),
    TokenRule("govuk-notify-key", ("gcntfy-",), rf"gcntfy-[A-Za-z0-9_-]{{1,60}}?-{_UUID}-{_UUID}"),
    TokenRule("harness-key", ("pat.", "sat."), r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    TokenRule("intra42-secret", ("s-s4t2",), r"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    TokenRule("lichess-token", ("lip_",), r"lip_[A-Za-z0-9]{20}"),
    TokenRule("mergify-key", ("mergify_",), r"mergify_application_key_[A-Za-z0-9_-]{40,}+"),
    TokenRule("mercury-token", ("mercury_",), r"mercury_production_[a-z]{2,4}_[A-Za-z0-9_]{30,}+"),
    TokenRule("onfido-token", ("api_live",), r"api_live(?:_ca|_us)?\.[A-Za-z0-9_.-]{24,}+"),
    TokenRule("paddle-key", ("pdl_",), r"pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}"),
    TokenRule("persona-key", ("persona_",), r"persona_(?:production|sandbox)_[A-Za-z0-9_-]{20,}+"),
    TokenRule("pinterest-token", ("pina_",), r"pina_[A-Za-z0-9_-]{32,}+"),
    TokenRule("polar-token", ("polar_",), r"polar_(?:at|oat|pat|rt)_[A-Za-z0-9_-]{32,}+"),
    TokenRule("rootly-key", ("rootly_",), r"rootly_[a-f0-9]{64}"),
    TokenRule("scalingo-token", ("tk-us-",), r"tk-us-[A-Za-z0-9_-]{48}"),
    TokenRule("settlemint-token", ("sm_aat_", "sm_pat_", "sm_sat_"), r"sm_[aps]at_[A-Za-z0-9]{16,}+"),
    TokenRule("slack-cookie", ("xoxd-",), r"xoxd-[A-Za-z0-9%+/=_-]{40,}+"),
    TokenRule("thunderstore-token", ("tss_",), r"tss_[A-Za-z0-9_-]{28,}+"),
    TokenRule("unkey-key", ("unkey_",), r"unkey_[A-Za-z0-9]{18,}+"),
    TokenRule("valtown-token", ("vtwn_",), r"vtwn_[A-Za-z0-9_-]{30,}+"),
    TokenRule("wakatime-key", ("waka_",), r"waka_[A-Za-z0-9-]{36,}+"),
    TokenRule("workato-token", ("wrka-eyJ",), r"wrka-eyJ[A-Za-z0-9._-]{60,}+"),
    TokenRule("zoho-token", ("1000.",), rf"1000\.{_HEX32}\.{_HEX32}"),
    TokenRule("clickhouse-key", ("4b1d",), r"4b1d[A-Za-z0-9]{38}"),
    TokenRule("maxmind-key", ("_mmk",), r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", False),
    TokenRule("vault-token", ("s.",), r"s\.[A-Za-z0-9]{24}"),
    TokenRule("yandex-token", ("t1.",), r"t1\.[A-Z0-9a-z_-]{10,}+={0,2}\.[A-Z0-9a-z_-]{86}={0,2}"),
    TokenRule("authress-key", (".acc",), r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}"
        r"\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}", False),
    TokenRule("zuplo-key", ("zpka_",), r"zpka_[a-z0-9]{32}_[a-f0-9]{8}"),
    # Kinds that no one provider owns
    TokenRule("jwt", ("eyJ",), r"eyJ[A-Za-z0-9_-]{10,2000}+\.eyJ[A-Za-z0-9_-]{10,}+(?:\.[A-Za-z0-9_-]{0,}+)?"),
    TokenRule("password-hash", ("$2a$", "$2b$", "$2y$"), r"\$2[aby]\$[0-9]{2}\$[A-Za-z0-9./]{53}"),
    TokenRule(
        "password-hash",
        ("$argon2", "$6$", "$5$", "$apr1$", "$y$", "$scrypt$"),
        r"\$(?:argon2(?:id?|d)|[156y]|apr1|scrypt)\$[A-Za-z0-9./+=,$-]{20,400}",
    ),
)  # fmt: skip
"""Secrets by shape. Order is rank: where two rows claim the same characters, the first names them."""
