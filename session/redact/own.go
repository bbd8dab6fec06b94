package redact

import (
	"regexp"
	"slices"
	"strings"
)

// ownRules returns the rules that are tried before those of gitleaks. They give the most common kinds a short name, and
// accept variations of the current key formats, because issuers change lengths.
func ownRules() []rule { return slices.Concat(keyRules(), contextRules) }

// keyed is a rule for keys that begin with one of prefixes, which is not the end of another
// word, and continue with rest.
func keyed(kind, rest string, prefixes ...string) rule {
	quoted := make([]string, len(prefixes))
	for i, p := range prefixes {
		quoted[i] = regexp.QuoteMeta(p)
	}
	return rule{kind: kind, keywords: prefixes, pattern: `(?:^|[^0-9A-Za-z])((?:` + strings.Join(quoted, "|") + `)` + rest + `)`, check: notIdentifier, run: leastRun}
}

// leastRun is the number of bytes of a word after the prefix of every key.
const leastRun = 10

// notIdentifier rejects words that only begin like a key.
func notIdentifier(s string) bool { return !isIdentifier(s) }

const word = `[A-Za-z0-9_-]`

// keyRules is a function, so that it does not slow the start of the program.
func keyRules() []rule {
	return []rule{
		keyed("anthropic", word+`{16,}`, "sk-ant-"),
		keyed("openai", word+`{20,}`, "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-", "sk-"),
		keyed("github", `[A-Za-z0-9]{30,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		keyed("github", word+`{30,}`, "github_pat_"),
		keyed("gitlab", `[A-Za-z0-9_.-]{20,}`, "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "glagent-", "gloas-", "glrtr-", "glffct-", "GR1348941"),
		{kind: "aws", keywords: []string{"AKIA", "ASIA", "ABIA", "ACCA"}, pattern: `(?:^|[^0-9A-Za-z])((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})(?:[^0-9A-Za-z]|$)`},
		{kind: "aws-secret", keywords: []string{"AKIA", "ASIA"}, pattern: `(?:AKIA|ASIA)[A-Z2-7]{16}[^A-Za-z0-9+/\n]{1,8}([A-Za-z0-9+/]{40})(?:[^0-9A-Za-z+/]|$)`},
		keyed("google", word+`{35}`, "AIza"),
		keyed("google", word+`{20,}`, "ya29.", "GOCSPX-"),
		keyed("google", word+`{30,}`, "1//0"),
		keyed("firebase", word+`{80,}`, "APA91b"),
		keyed("slack", `[A-Za-z0-9-]{10,}`, "xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
		keyed("slack", `[A-Za-z0-9%+/=-]{20,}`, "xoxd-"),
		{kind: "slack", keywords: []string{"hooks.slack.com"}, pattern: `\b(hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,})`},
		keyed("stripe", `[A-Za-z0-9]{16,}`, "sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"),
		keyed("stripe", `[A-Za-z0-9+/=]{20,}`, "whsec_"),
		keyed("npm", `[A-Za-z0-9]{36}`, "npm_"),
		keyed("pypi", word+`{50,}`, "pypi-"),
		keyed("huggingface", `[A-Za-z0-9]{30,}`, "hf_", "api_org_"),
		keyed("sendgrid", word+`{16,}\.`+word+`{30,}`, "SG."),
		{kind: "jwt", keywords: []string{"eyJ"}, pattern: `(?:^|[^0-9A-Za-z])(eyJ` + word + `{10,}\.` + word + `{10,}(?:\.` + word + `*){1,3})`},
		keyed("groq", `[A-Za-z0-9]{20,}`, "gsk_"),
		keyed("xai", `[A-Za-z0-9]{20,}`, "xai-"),
		keyed("perplexity", `[A-Za-z0-9]{20,}`, "pplx-"),
		keyed("replicate", `[A-Za-z0-9]{20,}`, "r8_"),
		keyed("nvidia", word+`{40,}`, "nvapi-"),
		keyed("tavily", word+`{20,}`, "tvly-"),
		keyed("elevenlabs", `[0-9a-f]{48}`, "sk_"),
		keyed("langsmith", `[0-9a-f_]{32,}`, "lsv2_pt_", "lsv2_sk_", "ls__"),
		keyed("pinecone", `[A-Za-z0-9_]{40,}`, "pcsk_"),
		keyed("jina", word+`{30,}`, "jina_"),
		keyed("runpod", `[A-Za-z0-9]{30,}`, "rpa_"),
		keyed("fireworks", `[A-Za-z0-9]{20,}`, "fw_"),
		keyed("anyscale", `[A-Za-z0-9]{20,}`, "esecret_"),
		keyed("e2b", `[0-9a-f]{40}`, "e2b_"),
		keyed("vercel", `[A-Za-z0-9]{24,}`, "vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"),
		keyed("netlify", `[A-Za-z0-9]{36,}`, "nfp_", "nfo_", "nfc_", "nfb_", "nfu_"),
		keyed("supabase", `[A-Za-z0-9_-]{20,}`, "sbp_", "sb_secret_"),
		keyed("render", `[A-Za-z0-9]{28,}`, "rnd_"),
		keyed("fly", `[A-Za-z0-9+/=_,-]{40,}`, "fo1_", "fm1r_", "fm1a_", "fm2_"),
		keyed("docker", word+`{27,}`, "dckr_pat_", "dckr_oat_"),
		keyed("figma", word+`{36,}`, "figd_", "figu_", "figoh_"),
		keyed("linear", `[A-Za-z0-9]{32,}`, "lin_api_", "lin_oauth_"),
		keyed("atlassian", `[A-Za-z0-9_=-]{60,}`, "ATATT3", "ATCTT3"),
		keyed("bitbucket", `[A-Za-z0-9_=-]{24,}`, "ATBB"),
		keyed("grafana", `[A-Za-z0-9_+/=]{32,}`, "glsa_", "glc_"),
		keyed("postman", `[A-Za-z0-9-]{50,}`, "PMAK-", "PMAT-"),
		keyed("vault", `[A-Za-z0-9_-]{24,}`, "hvs.", "hvb.", "hvr."),
		keyed("terraform", `[A-Za-z0-9_=-]{50,}`, "atlasv1."),
		keyed("rubygems", `[0-9a-f]{48}`, "rubygems_"),
		keyed("crates", `[A-Za-z0-9]{32}`, "cio"),
		keyed("nuget", `[a-z0-9]{43}`, "oy2"),
		keyed("jfrog", `[A-Za-z0-9]{50,}`, "AKCp", "cmVmdGtu"),
		keyed("square", word+`{22,}`, "sq0atp-", "sq0csp-", "sq0idp-", "EAAA"),
		keyed("shopify", `[A-Fa-f0-9]{32}`, "shpat_", "shpca_", "shppa_", "shpss_", "shptka_"),
		keyed("mailgun", `[0-9a-f]{32}`, "key-"),
		keyed("mailgun", `[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}`, "pubkey-"),
		{kind: "mailchimp", keywords: []string{"-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"}, pattern: `(?:^|[^0-9A-Za-z])([0-9a-f]{32}-us[0-9]{1,2})(?:[^0-9A-Za-z]|$)`},
		keyed("twilio", `[0-9a-f]{32}`, "SK", "AC"),
		{kind: "telegram", keywords: []string{":AA"}, pattern: `(?:^|[^0-9])([0-9]{8,10}:AA[A-Za-z0-9_-]{32,34})`},
		{kind: "discord", keywords: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}, pattern: `(discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{30,})`},
		{kind: "teams", keywords: []string{"webhook.office.com"}, pattern: `(webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{40,})`},
		{kind: "zapier", keywords: []string{"hooks.zapier.com"}, pattern: `(hooks\.zapier\.com/hooks/catch/[A-Za-z0-9/]{8,})`},
		keyed("facebook", `[A-Za-z0-9]{40,}`, "EAA"),
		keyed("twitter", `[A-Za-z0-9%]{40,}`, "AAAAAAAAAAAAAAAAAAAAA"),
		{kind: "paypal", keywords: []string{"access_token$"}, pattern: `(access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32})`},
		keyed("databricks", `[0-9a-f]{32}(?:-[0-9])?`, "dapi", "dkea", "dose"),
		keyed("newrelic", `[A-Za-z0-9-]{19,}`, "NRAK-", "NRJS-", "NRII-", "NRRA-", "NRIQ-"),
		keyed("sentry", `[A-Za-z0-9+/=_]{40,}`, "sntrys_", "sntryu_"),
		keyed("digitalocean", `[0-9a-f]{64}`, "dop_v1_", "doo_v1_", "dor_v1_"),
		keyed("circleci", `[A-Za-z0-9_]{40,}`, "CCIPAT_", "CCIPRJ_"),
		keyed("buildkite", `[A-Za-z0-9]{40}`, "bkua_"),
		keyed("sonar", `[0-9a-f]{40}`, "sqp_", "sqa_", "squ_"),
		keyed("alibaba", `[A-Za-z0-9]{12,}`, "LTAI"),
		keyed("tencent", `[A-Za-z0-9]{32}`, "AKID"),
		keyed("yandex", word+`{35,}`, "AQVN", "y0_", "YCAJ", "YCM"),
		keyed("yandex", word+`+=*\.`+word+`{80,}=*`, "t1."),
		keyed("1password", `[A-Za-z0-9+/=_-]{60,}`, "ops_eyJ"),
		keyed("age", `[A-Z0-9]{50,}`, "AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"),
		keyed("doppler", `[A-Za-z0-9]{40,}`, "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
		{kind: "doppler", keywords: []string{"dp.st."}, pattern: `\b(dp\.st\.[a-z0-9_-]{2,35}\.[A-Za-z0-9]{40,44})`},
		keyed("pulumi", `[0-9a-f]{40}`, "pul-"),
		keyed("notion", `[A-Za-z0-9]{40,}`, "ntn_", "secret_"),
		{kind: "airtable", keywords: []string{"pat"}, run: 16, pattern: `(?:^|[^0-9A-Za-z])(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})`},
		{kind: "asana", keywords: []string{"1/", "2/"}, run: 12, pattern: `(?:^|[^0-9A-Za-z/])([12]/[0-9]{12,}(?:/[0-9]{12,})?:[0-9a-f]{32})`},
		keyed("dropbox", word+`{60,}`, "sl.", "sl.u."),
		keyed("heroku", `[A-Za-z0-9_-]{36,}`, "HRKU-"),
		keyed("cloudflare", `[0-9a-f]{24}-[0-9a-f]{100,}`, "v1.0-"),
		keyed("mapbox", word+`{40,}\.`+word+`{20,}`, "pk.eyJ", "sk.eyJ", "tk.eyJ"),
		keyed("launchdarkly", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "sdk-", "mob-", "api-"),
		keyed("razorpay", `[A-Za-z0-9]{14,}`, "rzp_live_", "rzp_test_"),
		keyed("mollie", `[A-Za-z0-9]{30,}`, "live_", "test_"),
		keyed("posthog", `[A-Za-z0-9]{40,}`, "phx_", "phc_"),
		keyed("tailscale", `[A-Za-z0-9-]{20,}`, "tskey-auth-", "tskey-api-", "tskey-client-", "tskey-scim-", "tskey-"),
		keyed("typeform", word+`{40,}`, "tfp_"),
		keyed("sourcegraph", `(?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}`, "sgp_"),
		keyed("shippo", `[A-Fa-f0-9]{40}`, "shippo_live_", "shippo_test_"),
		keyed("duffel", `[A-Za-z0-9_=-]{43}`, "duffel_live_", "duffel_test_"),
		keyed("easypost", `[A-Za-z0-9]{54}`, "EZAK", "EZTK"),
		keyed("flutterwave", `[A-Za-z0-9_-]{20,}`, "FLWSECK_TEST-", "FLWSECK-", "FLWPUBK-"),
		keyed("frameio", word+`{64}`, "fio-u-"),
		keyed("brevo", `[0-9a-f]{64}-[A-Za-z0-9]{16}`, "xkeysib-", "xsmtpsib-"),
		keyed("resend", `[A-Za-z0-9]{8}_[A-Za-z0-9]{24}`, "re_"),
		keyed("contentful", word+`{43}`, "CFPAT-"),
		keyed("planetscale", `[A-Za-z0-9_.=-]{32,}`, "pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
		keyed("prefect", `[A-Za-z0-9]{36}`, "pnu_", "pnb_"),
		keyed("readme", `[0-9a-z]{70}`, "rdme_"),
		keyed("dynatrace", `[A-Z0-9]{24}\.[A-Z0-9]{64}`, "dt0c01.", "dt0s01.", "dt0s16."),
		keyed("clojars", `[0-9A-Fa-f]{60}`, "CLOJARS_"),
		keyed("openvpn", `[0-9a-f]{32,}`, "ovpn_"),
		keyed("scaleway", `[A-Z0-9]{17}`, "SCW"),
		keyed("hashicorp", `[A-Za-z0-9._-]{60,}`, "hcp."),
		keyed("confluent", `[A-Za-z0-9+/]{56,60}`, "cflt"),
		keyed("bitcoin", `[1-9A-HJ-NP-Za-km-z]{100,}`, "xprv", "yprv", "zprv", "tprv"),
		keyed("nostr", `[0-9a-z]{58}`, "nsec1"),
		keyed("codecov", `[0-9a-f-]{36}`, "cc-"),
		keyed("onesignal", `[a-z0-9]{50,}`, "os_v2_app_", "os_v2_org_"),
		keyed("intercom", `[A-Za-z0-9+/=]{52,}`, "dG9rO"),
		{kind: "azure", keywords: []string{"Q~"}, pattern: `(?:^|[^0-9A-Za-z_~.-])([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^0-9A-Za-z_~.-]|$)`},
		{kind: "azure", keywords: []string{"AZDO", "+ASt", "JQQJ99", "AAAC"}, pattern: `(?:^|[^0-9A-Za-z])([A-Za-z0-9+/]{50,84}(?:AZDO[A-Za-z0-9]{4}|\+ASt[A-Za-z0-9]{6}==|JQQJ99[A-Za-z0-9]{20,40}|AAAC[A-Za-z0-9+/]{4,30}))`},
		{kind: "putty", keywords: []string{"Private-Lines:"}, pattern: `Private-Lines: [0-9]+\s+((?:[A-Za-z0-9+/=]{4,}\s*)+)`},
		{kind: "private-key", keywords: []string{"b3BlbnNzaC1rZXktdjE"}, pattern: `(b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]{20,}(?:\s+[A-Za-z0-9+/=]{20,})*)`},
		{kind: "private-key", keywords: []string{"IBAAKC", "IBADANBgkqhkiG9w0BAQEFAASC", "MHcCAQEE", "MIGHAgEAMBMG", "MC4CAQAwBQYDK2Vw", "MIGkAgEB", "MIHcAgEB"}, pattern: `((?:MII[A-Za-z0-9+/]{1,3}IBAAKC|MII[A-Za-z0-9+/]{1,3}IBADANBgkqhkiG9w0BAQEFAASC|MHcCAQEE|MIGHAgEAMBMG|MC4CAQAwBQYDK2Vw|MIGkAgEB|MIHcAgEB)[A-Za-z0-9+/=]{20,}(?:\s+[A-Za-z0-9+/=]{20,})*)`},
	}
}
