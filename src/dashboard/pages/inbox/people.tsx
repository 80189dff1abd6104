import type { Message } from "../../../modules/inboxes/model.ts";

type Mailbox = Message["to"][number];

/** Longest list that is shown at first. */
const SHOWN = 6;

/** Sender and recipients, and what the envelope says where it differs from the headers. */
export function People({ message }: { message: Message }) {
  const { from, to, cc, bcc, replyTo, envelope, username } = message;
  const isOtherSender = envelope.from !== "" && envelope.from !== from?.address;
  return (
    <dl className="people">
      <Line label="From">
        {from === null ? <span className="muted">no From header</span> : <Name {...from} />}
        {isOtherSender && <span className="muted small"> envelope: {envelope.from}</span>}
      </Line>
      <Line label="To">
        {to.length === 0 ? <span className="muted">no To header</span> : <Names all={to} />}
      </Line>
      {cc.length > 0 && (
        <Line label="Cc">
          <Names all={cc} />
        </Line>
      )}
      {bcc.length > 0 && (
        <Line label="Bcc">
          <Names all={bcc} />
        </Line>
      )}
      {replyTo.length > 0 && (
        <Line label="Reply to">
          <Names all={replyTo} />
        </Line>
      )}
      {username !== "" && (
        <Line label="SMTP user">
          <code>{username}</code>
        </Line>
      )}
    </dl>
  );
}

function Line({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Names({ all }: { all: readonly Mailbox[] }) {
  const shown = all.slice(0, SHOWN);
  return (
    <>
      {shown.map((each, i) => (
        <span key={`${i} ${each.address}`} className="person">
          <Name {...each} />
          {i < all.length - 1 ? ", " : ""}
        </span>
      ))}
      {all.length > SHOWN && <span className="muted">and {all.length - SHOWN} more</span>}
    </>
  );
}

function Name({ name, address }: Mailbox) {
  if (name === "") return <span>{address}</span>;
  return (
    <span>
      {name} <span className="muted">&lt;{address}&gt;</span>
    </span>
  );
}
