/** Columns that may say who left: which of them must be explained before a file is imported. */

import { describe, expect, test } from "bun:test";
import { examineSample, readFormat } from "../../../src/modules/contacts/import/format.ts";

/** The messages about a file with one column beside the addresses. */
function errorsOf(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const { format, errors } = readFormat(header, { mapping: {} });
  const found = examineSample(format, rows).errors;
  return [...errors, ...found].map(({ field, message }) => `${field} ${message}`);
}

const ofColumn = (name: string, cells: readonly string[]) =>
  errorsOf(
    ["email", name],
    cells.map((cell, i) => [`p${i}@x.io`, cell]),
  );

/** `name=cell` or `name=cell1/cell2`, one column in a line. */
const columnsIn = (text: string): [name: string, cells: string[]][] =>
  text
    .trim()
    .split("\n")
    .map((line) => {
      const [name = "", ...rest] = line.trim().split("=");
      return [name, rest.join("=").split("~")];
    });

describe("a question is asked of", () => {
  test.each(
    columnsIn(`
    statut=désabonné
    Désinscrit=oui
    Estado=dado de baja
    Estado=Dada de Baja
    Aktiv=Nein
    Newsletter abonniert=Nein
    receive_marketing_emails=0
    receives_garden_marketing_emails=no
    state=cancelled
    State=Unconfirmed
    membership=left
    Mitgliedschaft=gekündigt
    deleted_at=2024-01-31
    cancelled_at=2024-01-31 10:00:00
    canceledAt=1700000000
    Left on=31.01.2024
    date_left=2024-01-31
    dateDeleted=Jan 31, 2024
    Account deleted on=20240131
    club deleted on=2024-01-31
    deletedat=2024-01-31
    isDeleted=true
    is_inactive=1
    isActive=false
    isactive=0
    active=no
    enabled=0
    UNSUB_REASON=NORMAL
    Unsubscribe reason=too many mails
    unsub_campaign=News
    unsubscribes_count=1
    bounce_type=hard
    meta={"unsubscribed":true}
    attributes={"unsubscribed":true}
    attributes={"prefs":{"newsletter":false}}
    attributes={"state":"deleted"}
    meta={"a":{"b":[{"status":"unsubscribed"}]}}
    meta={"json":"{\\"opted_out\\":1}"}
    meta={'unsubscribed': True}
    OptOutFlag=Y
    opted out of all=yes
    do_not_email_2=1
    No newsletter=1
    Kein Newsletter=ja
    no emails=true
    never_email=yes
    not confirmed=1
    reachable=no
    unreachable=yes
    Lage=unreachable
    Lage=Inactive
    Lage=blocked
    Lage=spam
    Lage=hard bounce
    Lage=invalid
    Lage=deleted
    Lage=removed
    Lage=pending
    Lage=not confirmed
    Lage=opted-out
    Lage=OPTED_OUT
    Lage=Opted Out
    Lage=no longer subscribed
    Lage=Never subscribed
    Lage=NON-SUBSCRIBED
    Lage=former
    tags=vip, inactive
    tags=vip;unsubscribed
    consent=no
    consent=
    Consent given=declined
    gdpr=false
    GDPR consent=N
    marketing permission=denied
    Marketing Permissions=no
    permission=none
    email_ok=no
    receive_offers_by_email=0
    E-Mail-Angebote erhalten=nein
    send_mail=0
    mailing=false
    email_frequency=never
    email_confirmed=0
    confirmed_at=2024-01-01~
    email_verified_at=
    verified=false
    is_valid=0
    Einwilligung=nein
    Werbeeinwilligung=nein
    Zustimmung=widerrufen
    abgemeldet=1
    Abmeldedatum=01.02.2024
    Kündigungsdatum=01.02.2024
    Abgemeldet am=01.02.2024
    gelöscht=ja
    Gelöscht am=01.02.2024
    gesperrt=x
    Kennzeichen=ABGEMELDET
    Kennzeichen=gelöscht
    Kennzeichen=nicht bestätigt
    Kennzeichen=ausgetreten
    inscrit=non
    Désabonné(e)=OUI
    DÉSINSCRIPTION=2024-01-01
    situation=résilié
    situation=non confirmé
    supprimé le=2024-01-01
    situación=baja
    Fecha de baja=2024-01-01
    suscrito=no
    situación=eliminado
    iscritto=no
    stato=disiscritto
    consenso=no
    stato=cancellata
    situação=descadastrado
    situação=cancelado
    Inscrito=não
    uitgeschreven=ja
    toestand=afgemeld
    Actief=nee
    läge=avregistrerad
    läge=avslutad
    Samtycke=nej
    tilstand=afmeldt
    tilstand=slettet
    Aktiv=nej
    Aktiv=nei
    stan=wypisany
    stan=usunięty
    Zgoda=nie
    stav=odhlášen
    stav=smazán
    Souhlas=ne
    durum=abonelikten çıktı
    durum=silindi
    İzin=hayır
    статус рассылки=отписан
    Состояние=отписался
    Состояние=не подтвержден
    Состояние=удалён
    Активен=нет
    согласие=нет
    状態=退会済み
    状態=配信停止
    状態=無効
    購読=いいえ
    メルマガ=否
    状态=已退订
    상태=수신거부
    newsletter=no
    Newsletters=weekly
    opt_in_flag2=0
    last_event=unsubscribe
    event=bounce
    lead_status=unsubscribed
    status_name=inactive
    emails disabled for=1
    Exit date=2024-01-01
    Ex-member=yes
    Removed by=Bob
    removal_reason=asked
    Darf kontaktiert werden=nein
    Bekommt Newsletter=nein
    Kontaktsperre=ja
    Sperrkennzeichen=X
    Austrittsdatum=31.12.2023
    Accepte les emails=non
    acepta_publicidad=no
    data_cancellazione=2024-01-01
    assinante=não
    afmelddatum=2024-01-01
    udmeldelsesdato=2024-01-01
    hírlevél feliratkozás=nem
    leiratkozás dátuma=2024-01-01
    abonat=nu
    e-posta izni=hayır
    рассылка=отключена
    дата отписки=2024-01-01
    配信可否=不可
    メール配信=しない
    退会日=2024-01-01
    是否订阅=否
    state=Stop
    state=no email
    state=does not want emails
    state=on hold
    state=GDPR erased
    state=DNM
    canContact=no
    mail_stop=1
    do_not_disturb=1
    archived_at=2024-01-01
    inactive_since=2024-01-01
    mailing_list_member=no
    ok to email=no
    Exclude From Mailings=1
    meta=[{"key":"unsubscribed","value":"unsubscribed"}]
    tags=#unsubscribed
    fields=unsubscribed:true
    Can we contact you?=No
    May we contact you by letter or mail about the garden?=No
    May we send you offers?=No
    Send me updates=FALSE
    Please keep me informed=0
    Product updates=no
    News=No
    promos=no
    Special offers=false
    Stay in touch=No
    Would you like to hear from us?=No
    Would you like to receive more information?=No
    Ok to contact=no
    send=0
    Dürfen wir Sie anschreiben?=Nein
    Darf ich dir schreiben=nein
    Angebote=nein
    Pouvons-nous vous contacter ?=Non
    Actualités=non
    ¿Podemos escribirte?=No
    Ofertas=no
    Possiamo contattarti?=No
    Mogen wij u benaderen?=Nee
    Får vi skriva till dig?=Nej
    Можно вам писать?=Нет
    Новости=нет
    sub=0
    is_sub=0
    Subs?=no
    opted=out
    stop=1
    stopped_at=2024-01-01
    ended_at=2024-01-01
    Stopped=yes
    E-mail consent for photos=no
    Can we send you health news?=no
    I agree to be contacted=No
    Keep in contact=no
    Restons en contact=non
    Desea ser contactado=no
    Do you want to hear about our events?=no
    Tell me more=no
    Join our list=no
    Notifications=no
    Deals=no
    Infos erhalten=nein
    opt_status=out
    muted=1
    dropped_at=2024-01-01
    May we write to you about terms and photos?=no
  `),
  )("%s: %j", (name, cells) => {
    const [message = "", ...others] = ofColumn(name, cells);
    expect(others).toEqual([]);
    expect(message).toContain(`file has a column ${name} with`);
    expect(message).toContain("map it to status, unsubscribed, subscribed, or data.");
  });
});

describe("no question is asked of", () => {
  test.each(
    columnsIn(`
    City=Left Bank
    city=Paris
    state=Bavaria
    state=CA
    State=New York~NY~Baja California
    country=NO
    mailing_country=NO
    marketing_region=North
    plan=free
    plan=pro~enterprise
    order_status=shipped
    order_status=cancelled
    payment_status=pending
    order_confirmed=no
    Is invoice verified=0
    Order cancelled at=2024-01-01
    last_invoice=rejected
    shipping_status=pending
    active_users=12
    deleted_items=0
    deleted_items=3
    blocked_credits=0
    left_handed=no
    left_handed=yes
    handedness=left
    seat=left~right
    Panel=left~right
    first_name=Ada
    last_name=Left
    Last Name=Blocked
    company=Inactive
    Company=Bounce Houses Ltd
    name=Pending
    job_title=Head of Deliverability
    notes=Left a message on the phone, call again
    notes=met at the conference
    birthday=1990-05-06
    created_at=2024-01-31
    updated_at=2024-01-31
    last_login=2024-01-31
    signup_date=2024-01-31
    subscribed_at=2024-01-31
    OPTIN_TIME=
    OPTIN_IP=
    consent_source=form
    consent_ip=
    language=no
    lang=nl
    vip=no
    is_admin=false
    has_children=0
    newsletter_topic=garden
    email_opens=0
    emails_sent=0
    emails_opened=12
    marketing_budget=0
    bounce_rate=0.02
    bounce_count=2
    unsubscribe_url=https://x.io/u/1
    unsubscribe_token=abc123
    link=https://x.io/unsubscribe?u=1
    is_deleted=false
    deleted_at=
    deleted_at=NULL
    deleted_at=0000-00-00 00:00:00
    cancelled_at=~
    opted_out_2=no
    bounced_flag=0
    active=yes~1~true
    newsletter=yes
    confirmed_at=2024-01-01~2024-01-02
    Aktiv=Ja
    Einwilligung=ja
    Согласие=да
    購読=はい
    Désinscrit le=
    Secondary email=null
    contact_no=5
    phone_no=0
    sms_consent=no
    SMS status=unsubscribed
    Phone opt in=0
    Do Not Call=1
    subscription=premium
    membership=gold
    membership_level=silver
    score=5.5
    points=0
    gender=none
    source=Facebook
    frequency=weekly
    favorite_color=blue
    size=XL
    website=https://example.com
    tags=vip, garden
    tags=["vip","garden"]
    address={"city":"Rome","country":"NO"}
    attributes={"city":"Rome","active_users":3,"orders":[{"status":"cancelled"}]}
    attributes={"unsubscribed":false,"newsletter":true}
    Ankündigungen=ja
    party=Left
    ticket=closed
    currency=EUR
    timezone=Europe/Berlin
    trial_ends_at=2024-01-31
    expires_at=2030-01-31
    renewal_date=2030-01-31
    product=Spam Filter Pro
    valid_until=2030-01-31
    activation_code=abc
    postal_code=01067
    お名前=山田太郎
    Ort=Nürnberg
    Firma=Kein & Söhne GmbH
    приложение=нет
    years_active=5
    active_since=2020-01-01
    activated_at=2024-01-01
    cancelled_bookings=2
    emails_received=0
    promotion=none
    permission_level=none
    gone_fishing=yes
    quit_smoking=yes
    trial_status=expired
    warranty=expired
    visa=pending
    ticket_status=closed
    deal_stage=Lost
    phone_valid=false
    two_factor_enabled=false
    whatsapp_opt_in=no
    is_enabled=true
    spam_score=0.0
    departure=2024-05-01
    member_since=2020-01-01
    subscriber_id=12
    utm_source=newsletter
    relationship=Former customer
    Last Active=
    Last Active=~2024-01-01
    Lead Status=Open - Not Contacted
    Lead Status=Working - Contacted~Unqualified
    Lead Status=Attempted to contact
    Mailing Address Line 2=None
    Mailing Street=None
    Mailing State/Province=NO
    Mailing Country=no
    Days since last email=0
    contact person=no
    Contact role=none
    Primary Contact=0
    rsvp=declined
    photo consent=no
    Photo permission=no
    Fotoeinwilligung=nein
    Media release consent=no
    Parental consent=
    Cookie consent=no
    address verified=no
    Shipping address valid=false
    email client=none
    Email Domain=none
    Email template=none
    E-mail signature=no
    promo_code=none
    News source=none
    sub_total=0
    sub_category=none
    Did we contact you before?=No
    How did you hear about us?=None
    Have you written to us before?=No
    Can you send us a photo?=No
    Identity verified=no
    ID verified=false
    Verified buyer=no
    Active subscriptions=0
    Active Deals=0
    Invoice email=no
    Secondary email=none
    Email 2=none
    Last marketing email open date=
    Stay-in-Touch Request Date=
    Has Opted Out Of Fax=1
    Can we use your photo?=No
    Preferred contact method=None
    Best time to contact you=None
    Guest status=declined
    Video consent=no
    Dropped courses=yes
    Options=no
    Join date=2024-01-01
    Would you like to join us for dinner?=No
    Do you have dietary requirements?=No
    Will you attend the workshop?=No
    Additional information=no
    Anything else you want to tell us?=No
    Default Address Company=None
    Default Address Phone=
    Tax Exempt=no
    Total Spent=0.00
    Total Orders=0
    Accepts SMS Marketing=no
    Financial Status=pending
    Fulfillment Status=unfulfilled
    Lineitem requires shipping=false
    Lineitem fulfillment status=pending
    Risk Level=Low
    Note Attributes=None
    Discount Code=none
    AOV=0
    Username=none
    Country / Region=NO
    Lifecycle Stage=lead~opportunity
    Associated Deals=0
    Number of times contacted=0
    Number of Sales Activities=0
    Last Activity Date=
    Last Contacted=
    Marketing emails opened=0
    Original Source Type=OFFLINE
    Contact Owner=No owner
    Become a Customer Date=
    Is Person Account=0
    Account Name=None
    Converted=0
    Lead Source=Web
    Delinquent=false
    Card Funding=none
    Default Source=none
    Refunded Volume=0.00
    Payment Count=0
    Attendee Status=Not Attending
    Attendee #=12
    Ticket Type=Free
    Checked In=No
    Buyer Last Name=No
    Guest=no
    Network ID=none
    Response Type=completed
    Submitted At=2024-01-01
    Timestamp=2024-01-01 10:00:00
    MEMBER_RATING=2
    LATITUDE=0
    GMTOFF=0
    DSTOFF=0
    CC=NO
    LAST_CHANGED=2024-01-01
    LEID=12
    TAGS="vip","garden"
    FNAME=No
    MMERGE6=none
    End date=2024-05-01
    Bus stop=none
    Backend=no
    Stopped smoking=yes
    Discontinued products=yes
    new customer=no
  `),
  )("%s: %j", (name, cells) => {
    expect(ofColumn(name, cells)).toEqual([]);
  });
});

describe("a file of orders", () => {
  const header =
    "Name Email|Financial Status|Paid at|Fulfillment Status|Accepts Marketing|Subtotal";
  const errors = (marketing: string, rest = header.split("|")) =>
    errorsOf(
      ["email", ...rest, "Cancelled at"],
      [
        [
          "a@x.io",
          ...rest.map((name) => (name === "Accepts Marketing" ? marketing : "paid")),
          "2024-01-01",
        ],
      ],
    );

  test("may have orders that were cancelled by people who accept marketing", () => {
    expect(errors("yes")).toEqual([]);
    expect(errors("no")).toEqual([]);
  });

  test("is a question where no column says whether the person wants mail", () => {
    expect(errors("")).toHaveLength(1);
  });

  test("is no list of members, in which a date of cancellation is a question", () => {
    expect(errors("yes", ["Plan", "Paid at", "Accepts Marketing"])).toHaveLength(1);
  });
});

test("a word such as inactive is no question in a column of many texts", () => {
  const cells = Array.from({ length: 60 }, (_, i) => `user${i}`);
  expect(ofColumn("login", [...cells, "inactive"])).toEqual([]);
  expect(ofColumn("login", [...cells, "unsubscribed"])).toHaveLength(1);
});

test("a row that another column says left is no question", () => {
  const header = ["email", "UNSUB_TIME", "UNSUB_REASON", "Stand"];
  expect(errorsOf(header, [["a@x.io", "2024-01-01 10:00:00", "NORMAL", "inactive"]])).toEqual([]);
  expect(errorsOf(header, [["a@x.io", "", "NORMAL", "inactive"]])).toHaveLength(2);
});

test("the field subscribed answers for values, and not for a name that says who left", () => {
  const errors = (name: string, cell: string) =>
    errorsOf(["email", "subscribed", name], [["a@x.io", "true", cell]]);
  expect(errors("plan", "cancelled")).toEqual([]);
  expect(errors("deleted_at", "2024-01-01")).toHaveLength(1);
});
