import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../support/app.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

const MAIL = { to: "ada@x.test", from: "hi@acme.test", subject: "s", body: "<p>b</p>" };
const CAMPAIGN = {
  name: "News",
  subject: "s",
  body: "<p>b</p>",
  from: "hi@acme.test",
  audienceType: "ALL",
};
const TEMPLATE = { name: "T", subject: "s", body: "<p>b</p>", type: "TRANSACTIONAL" };

/** Each field of the table with a part of its message: the right name, or that there is none. */
const REFUSED: [path: string, valid: object, fields: Record<string, string>][] = [
  [
    "/v1/send",
    MAIL,
    {
      Cc: "use cc",
      bccAddresses: "use bcc",
      TextBody: "use text",
      ampHtml: "not supported",
      html: "use body",
      HtmlBody: "use body",
      reply_to: "use replyTo",
      ReplyTo: "use replyTo",
      replyToList: "use replyTo",
      send_at: "use scheduledAt",
      scheduledFor: "use scheduledAt",
      emailTags: "use tags",
      variables: "use data",
      dynamic_template_data: "use data",
      template_id: "use template",
      previewText: "put it first into body",
      tracking: "setting of the project",
      fromName: "use name",
      Subject: "use subject",
      subjct: "use subject",
      sujbect: "use subject",
      form: "use from",
      attachement: "use attachments",
      idempotencyKey: "Idempotency-Key",
    },
  ],
  [
    "/campaigns",
    CAMPAIGN,
    {
      scheduledAt: "scheduledFor of POST /campaigns",
      scheduledFor: "scheduledFor of POST /campaigns",
      html: "use body",
      reply: "use replyTo",
      reply_to: "use replyTo",
      from_name: "use fromName",
      segment: "use segmentId",
      listIds: "use segmentId",
      attachments: "not supported",
      headers: "not supported",
      cc: "not supported",
    },
  ],
  ["/templates", TEMPLATE, { html: "use body", text: "text part", fromname: "use fromName" }],
  [
    "/contacts",
    { email: "bo@x.test" },
    { firstName: "use data", name: "use data", unsubscribed: "use subscribed", tags: "not" },
  ],
  ["/v1/track", { email: "bo@x.test", event: "seen" }, { properties: "use data", evnt: "event" }],
];

describe("a field that would change what is sent is refused:", () => {
  for (const [path, valid, fields] of REFUSED) {
    test.each(Object.entries(fields))(`${path} %s`, async (name, message) => {
      const before = t.contents();
      const answer = await t.call("POST", path, { ...valid, [name]: "x" });
      expect([answer.status, answer.at("error.errors")]).toEqual([
        422,
        [{ field: name, message: expect.stringContaining(message), code: "unknown_field" }],
      ]);
      expect(t.contents()).toEqual(before);
    });
  }

  test("also inside other fields, together with the other violations", async () => {
    const to = [{ email: "ada@x.test", data: { a: 1 }, subject: "s" }, { address: "ada@x.test" }];
    const attachments = [{ name: "a.txt", content: "eA==" }];
    const answer = await t.call("POST", "/v1/send", { ...MAIL, to, attachments, subject: 5 });
    expect(answer.at("error.errors")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ field: "to.0.subject", code: "unknown_field" }),
        expect.objectContaining({ field: "to.0.data", code: "unknown_field" }),
        expect.objectContaining({
          field: "to.1.address",
          message: expect.stringContaining("email"),
        }),
        expect.objectContaining({ field: "attachments.0.name" }),
        expect.objectContaining({ field: "attachments.0.filename", code: "required" }),
        expect.objectContaining({ field: "subject", code: "invalid_type" }),
      ]),
    );
  });

  test("also in conditions at each level, wherever a condition is taken", async () => {
    const one = { field: "data.plan", operator: "equals", value: "pro" };
    const group = { filters: [{ ...one, not: true, op: "x" }], logic: "OR", filter: [one] };
    const inner = { logic: "AND", groups: [group], combinator: "x", filters: [one] };
    const condition = { logic: "AND", groups: [{ filters: [], conditions: inner }] };
    const steps = [{ id: "c", type: "CONDITION", config: { condition } }];
    const flow = { name: "F", trigger: { type: "EVENT", eventName: "seen" }, steps };
    const places: [path: string, body: object, at: string][] = [
      ["/segments", { name: "S", condition }, "condition"],
      [
        "/campaigns",
        { ...CAMPAIGN, audienceType: "FILTERED", audienceFilter: condition },
        "audienceFilter",
      ],
      ["/contacts/bulk", { action: "delete", filter: condition }, "filter"],
      ["/workflows", { ...flow, transitions: [] }, "steps.0.config.condition"],
    ];
    const before = t.contents();
    for (const [path, body, at] of places) {
      const answer = await t.call("POST", path, body);
      const errors = [answer.at("error.errors")].flat();
      const unknown = errors.filter((error) => Object(error)["code"] === "unknown_field");
      const inGroup = `${at}.groups.0.conditions.groups.0`;
      expect([
        path,
        Object.fromEntries(unknown.map((e) => [Object(e).field, Object(e).message])),
      ]).toEqual([
        path,
        {
          [`${inGroup}.filters.0.not`]: expect.stringContaining("use an operator"),
          [`${inGroup}.filters.0.op`]: expect.stringContaining("use operator"),
          [`${inGroup}.logic`]: expect.stringContaining("make several groups"),
          [`${inGroup}.filter`]: expect.stringContaining("use filters"),
          [`${at}.groups.0.conditions.combinator`]: expect.stringContaining("use logic"),
          [`${at}.groups.0.conditions.filters`]: expect.stringContaining("use groups"),
        },
      ]);
    }
    expect(t.contents()).toEqual(before);
  });

  test("and a parameter with a typing error or of another service", async () => {
    const cases = { limits: "use limit", per_page: "use limit", page: "use cursor" };
    for (const [name, message] of Object.entries(cases)) {
      const answer = await t.call("GET", `/contacts?${name}=1`);
      expect([answer.status, answer.at("error.errors.0")]).toEqual([
        422,
        { field: name, message: expect.stringContaining(message), code: "unknown_field" },
      ]);
    }
  });
});

/** Names of Resend, SendGrid, Postmark, Mailgun, SES, Brevo, Mailjet, SparkPost, Plunk and listmonk, and their kind. */
const SENDING_NAMES = `
  ccAddresses bccAddresses toAddresses cc_recipients ccList Bcc[] extraTo additionalRecipients
  dryRun dry_run dryrun test testMode test_mode isTest testing sandbox sandboxMode simulate o:testmode
  draft previewOnly validateOnly
  expiresAt expires_at ttl sendAt send_at sendat sendLater deliverAfter deliveryTime delay delaySeconds
  scheduleTime scheduled_for sendInLocalTimezone o:deliverytime optimizeSendTime
  h:Reply-To h:X-Campaign o:tag o:dkim v:name t:version replyToName reply_to_list
  inline inlineImages inlineCss inline_css file attachFiles attachmentUrl images
  personalizations personalizationData substitutions substitution_data mergeVars merge_vars
  recipientVariables vars custom_args customData content htmlContent html HtmlBody html_body body_html
  bodyText textContent plainText markdown ampHtml amp mjml template_id templateId templateVersion
  templateLanguage templateAlias TemplateModel TemplateData ConfigurationSetName category categories
  metadata Metadata Tag trackOpens TrackOpens track_links TrackLinks trackClicks click_tracking
  openTracking tracking_settings o:tracking utmCampaign googleAnalytics unsubscribeUrl unsubscribeGroup
  asm listUnsubscribe suppressionGroup bypassListManagement bypass_unsubscribe skipSuppression
  importance xPriority messageStream ipPool ip_pool_name sendingDomain dkim returnPath
  EndpointId FromEmailAddress fromEmailAddressIdentityArn language locale timezone version variant
  batchId webhookUrl callbackUrl notifyUrl footer previewText preheader subject_line messageVersions
  campaignId campaign_id campaignName audience segmentId segment_id excludeSegments excludeContacts
  liveMode live mode environment when sendDate toName repeatEvery
  groupId topic_id listId list_ids limit maxRecipients rateLimit throttle retries
`;
const CAMPAIGN_NAMES = `
  excludeSegments exclude exclude_list_ids excludeContacts limit maxRecipients testOnly test isTest dryRun
  sendAt send_at sendNow scheduleAt segmentIds segments listId lists list_ids recipients recipientLists
  excludedRecipients tags template content html text previewText preview_text replyToName
  suppressionGroupId unsubscribeGroup trackOpens abTesting variants winner sendingRate throttle messenger
  headers attachments archive_template_id inlineImageActivation mirrorActive footer utmCampaign language
`;
const CONTACT_NAMES = `
  tags tag lists list listIds list_ids unlinkListIds unsubscribed unsubscribedAt unsubscribed_at status
  subscription_status subscriptionStatus preconfirm_subscriptions optedOut optedIn opt_out optIn consent
  gdprConsent marketing_permissions emailBlacklisted smsBlacklisted smtpBlacklistSender blocklisted bounced
  complained suppressed doubleOptin doubleOptIn confirmed topics segments groups audienceId audience_id
  updateEnabled update_existing overwrite upsert merge_fields attributes customFields properties firstName
  active isActive deleted archived disabled enabled newsletter preferences state welcomeEmail
  triggerAutomation skipWorkflows dryRun test do_not_contact dnc no_mail blocked banned removed gone left
  spam canceled mailable deliverable allowed sub
`;
const EVENT_NAMES = `${CONTACT_NAMES} timestamp time occurredAt eventTime date happened_at`;

describe("a name that may mean an effect is refused, also of a service that no table has:", () => {
  const groups: [path: string, valid: object, names: string][] = [
    ["/v1/send", MAIL, SENDING_NAMES],
    ["/campaigns", CAMPAIGN, CAMPAIGN_NAMES],
    ["/contacts", { email: "bo@x.test" }, CONTACT_NAMES],
    ["/v1/track", { email: "bo@x.test", event: "seen" }, EVENT_NAMES],
  ];
  for (const [path, valid, names] of groups) {
    test(path, async () => {
      const before = t.contents();
      const accepted: string[] = [];
      for (const name of names.trim().split(/\s+/)) {
        const answer = await t.call("POST", path, { ...valid, [name]: "x" });
        const error = Object([answer.at("error.errors")].flat()[0]);
        if (error.code !== "unknown_field" || error.field !== name) accepted.push(name);
      }
      expect(accepted).toEqual([]);
      expect(t.contents()).toEqual(before);
    });
  }

  test("also inside a recipient and an attachment, and in the query of a change", async () => {
    const to = [{ email: "ada@x.test", type: "cc", variables: {}, sendAt: "x" }];
    const attachments = [{ filename: "a", content: "eA==", inline: true, encoding: "hex" }];
    const answer = await t.call("POST", "/v1/send", { ...MAIL, to, attachments });
    const errors = [answer.at("error.errors")].flat().map((error) => Object(error).field);
    expect(errors).toEqual([
      "to.0.type",
      "to.0.variables",
      "to.0.sendAt",
      "attachments.0.inline",
      "attachments.0.encoding",
    ]);
    for (const query of ["dryRun=true", "test=1", "sandbox", "sendAt=x", "to=b@x.test"]) {
      const sent = await t.call("POST", `/v1/send?${query}`, MAIL);
      expect([query, sent.status]).toEqual([query, 422]);
    }
    const id = await t.create("/contacts", { email: "kept@x.test" }, "id");
    expect((await t.call("DELETE", `/contacts/${id}?dryRun=1`)).status).toBe(422);
    expect((await t.call("GET", `/contacts/${id}`)).status).toBe(200);
  });

  test("the message lists the names that the endpoint has", async () => {
    const answer = await t.call("POST", "/v1/send", { ...MAIL, dryRun: true });
    expect(answer.at("error.errors.0.message")).toBe(
      "is not supported; the fields are to, cc, bcc, subject, body, text, template, from, name, " +
        "replyTo, reply, subscribed, topicId, data, scheduledAt, tags, priority, headers, attachments",
    );
    expect((await t.call("GET", "/contacts?email=a@x.test")).at("error.errors.0.message")).toBe(
      "is not supported; the parameters are limit, cursor, subscribed, topic, search, data, sort, order",
    );
  });
});

test("a parameter of a list that may mean a filter or an order is refused", async () => {
  const lists: Record<string, string> = {
    "/emails":
      "search email recipient q tags createdAt created_at created_after sentAt sort order sort_by state " +
      "fromDate startDate begin_time contact_id to[] status[] filter[status] subject__contains id " +
      "messageId template_id campaign bounced opened type",
    "/contacts":
      "email status q query name tag list listId segment segmentId unsubscribed created_after sort orderBy " +
      "where data.plan data[plan] filter id ids isSubscribed active createdAt updated_since",
    "/contacts/export": "email status tag segment_id q query created_after search_term list",
    "/events": "name type start_date since contact userId emailId subject campaignId order",
    "/campaigns": "name q search segment sort type createdAt audience",
    "/segments": "type q search kind sort contactId",
    "/templates": "type q search sort subject",
    "/suppressions": "q type search domain created_after since",
    "/stats": "campaignId template start_date email since",
  };
  for (const [path, names] of Object.entries(lists)) {
    for (const name of names.split(" ")) {
      const answer = await t.call("GET", `${path}?${encodeURIComponent(name)}=x`);
      const [first] = [answer.at("error.errors")].flat();
      expect([path, name, answer.status, Object(first).field]).toEqual([path, name, 422, name]);
    }
  }
});

test("ordinary additions of clients are ignored and named", async () => {
  const ignored = async (method: string, path: string, body?: object) => {
    const { status, headers } = await t.call(method, path, body);
    return [status < 300, headers.get("mailstead-ignored")];
  };
  const fields =
    "note notes comment id uid userId externalId requestId orderId createdAt updatedAt source type";
  for (const name of fields.split(" ")) {
    const found = await ignored("POST", "/v1/send", { ...MAIL, [name]: "x" });
    expect([name, ...found]).toEqual([name, true, name]);
  }
  const more =
    "note comment id uid userId externalId createdAt updatedAt source phone city birthday timestamp";
  for (const name of more.split(" ")) {
    const found = await ignored("POST", "/contacts", { email: "bo@x.test", [name]: "x" });
    expect([name, ...found]).toEqual([name, true, name]);
  }
  const parameters =
    "_ t _t ts v cb zzz nocache timestamp utm_source utm_campaign api_key apikey access_token pretty format " +
    "fields include expand debug request_id foo";
  for (const name of parameters.split(" ")) {
    const found = await ignored("GET", `/emails?${name}=1`);
    expect([name, ...found]).toEqual([name, true, name]);
  }
});

test("many unknown names take linear time", async () => {
  const names = Array.from({ length: 10_000 }, (_, i) => [`zz${i}q`, 1]);
  const before = performance.now();
  await t.call("POST", "/v1/send", {
    ...MAIL,
    ...Object.fromEntries(names),
    [`a${"b".repeat(1e6)}`]: 1,
  });
  expect(performance.now() - before).toBeLessThan(5_000);
});

describe("another unknown name is ignored and named in a header:", () => {
  const ignored = (headers: Headers) => headers.get("mailstead-ignored");

  test("fields, also inside other fields, and query parameters", async () => {
    const to = [{ email: "ada@x.test", nickname: "A" }];
    const answer = await t.call("POST", "/v1/send?zzz=1", { ...MAIL, to, note: 1, "a, b\n": 2 });
    expect(answer.status).toBe(200);
    expect(ignored(answer.headers)).toBe("to.0.nickname, note, a%2C%20b%0A, zzz");
    expect(ignored((await t.call("GET", "/contacts?zzz=1")).headers)).toBe("zzz");
    expect(ignored((await t.call("POST", "/v1/send", MAIL)).headers)).toBeNull();
  });

  test("members of conditions and of the settings of a step", async () => {
    const filter = { field: "subscribed", operator: "equals", value: true, note: 1 };
    const condition = { logic: "AND", groups: [{ filters: [filter], label: "x" }] };
    const segment = await t.call("POST", "/segments", { name: "Noted", condition });
    const names = "condition.groups.0.filters.0.note, condition.groups.0.label";
    expect([segment.status, ignored(segment.headers)]).toEqual([201, names]);
    const campaign = { ...CAMPAIGN, audienceType: "FILTERED", audienceFilter: condition };
    const made = await t.call("POST", "/campaigns", campaign);
    expect(ignored(made.headers)).toBe(names.replaceAll("condition.", "audienceFilter."));
    const steps = [
      { id: "c", type: "CONDITION", config: { ...filter, note: 1 } },
      {
        id: "m",
        type: "CONDITION",
        config: {
          mode: "multi",
          field: "data.a",
          branches: [{ id: "b", operator: "exists", note: 1 }],
        },
      },
    ];
    const transitions = [{ from: "c", to: "m", branch: "yes" }];
    const trigger = { type: "EVENT", eventName: "seen" };
    const flow = await t.call("POST", "/workflows", { name: "F", trigger, steps, transitions });
    expect([flow.status, ignored(flow.headers)]).toEqual([
      201,
      "steps.0.config.note, steps.1.config.branches.0.note",
    ]);
  });

  test("short words that are no typing error of ours", async () => {
    const body = { email: "ada@x.test", event: "seen", rank: "x", mode: 1 };
    const answer = await t.call("POST", "/v1/track", body);
    expect([answer.status, ignored(answer.headers)]).toEqual([200, "rank, mode"]);
  });

  test("nothing inside free data and headers", async () => {
    const data = { cc: "x", text: "y" };
    const answer = await t.call("POST", "/v1/send", { ...MAIL, data });
    expect([answer.status, ignored(answer.headers)]).toEqual([200, null]);
  });

  test("of a body with very many, the first twenty", async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`zzz${i}`, 1]));
    const answer = await t.call("POST", "/v1/send", { ...MAIL, ...many });
    expect(answer.status).toBe(200);
    expect(ignored(answer.headers)).toEndWith("zzz19, and 4980 more");
  });
});

test("an object that was read may be sent back with PATCH", async () => {
  const steps = [{ id: "wait", type: "DELAY", config: { amount: 2, unit: "days" } }];
  const flow = { name: "F", trigger: { type: "EVENT", eventName: "seen" }, steps, transitions: [] };
  const condition = {
    logic: "AND",
    groups: [{ filters: [{ field: "subscribed", operator: "equals", value: true }] }],
  };
  const made: [path: string, body: object, id: string][] = [
    ["/contacts", { email: "back@x.test" }, "id"],
    ["/templates", TEMPLATE, "data.id"],
    ["/campaigns", CAMPAIGN, "data.id"],
    ["/segments", { name: "S", condition, trackMembership: false }, "data.id"],
    ["/workflows", flow, "data.id"],
    ["/webhooks", { url: "https://hooks.example/x", events: ["email.sent"] }, "data.id"],
  ];
  for (const [path, body, at] of made) {
    const id = await t.create(path, body, at);
    const read = await t.call("GET", `${path}/${id}`);
    const whole = read.at("data.id") === id ? read.at("data") : read.body;
    const answer = await t.call("PATCH", `${path}/${id}`, whole);
    expect([path, answer.status, answer.at("error.message")]).toEqual([path, 200, undefined]);
  }
  const id = await t.create("/campaigns", CAMPAIGN, "data.id");
  expect((await t.call("PATCH", `/campaigns/${id}`, { type: "SEGMENT" })).status).toBe(422);
});
