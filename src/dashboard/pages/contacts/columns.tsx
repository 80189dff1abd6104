/** The columns of the list of contacts. */

import type { Contact } from "../../../modules/contacts/model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { dataKeyOf } from "./column-choice.ts";
import { valueText } from "./data-values.ts";
import { nameOrValue } from "./name-fields.ts";

const EMAIL: Column<Contact> = {
  key: "email",
  title: "Address",
  sortKey: "email",
  width: "30%",
  render: ({ email }) => <bdi title={email}>{email}</bdi>,
};

const FIXED: Readonly<Record<string, Column<Contact>>> = {
  subscribed: {
    key: "subscribed",
    title: "Subscription",
    sortKey: "subscribed",
    width: "164px",
    render: (contact) => <Subscription contact={contact} />,
  },
  createdAt: {
    key: "createdAt",
    title: "Created",
    sortKey: "createdAt",
    width: "148px",
    isFigure: true,
    render: ({ createdAt }) => <Time at={createdAt} isPlain />,
  },
  updatedAt: {
    key: "updatedAt",
    title: "Changed",
    sortKey: "updatedAt",
    width: "148px",
    isFigure: true,
    render: ({ updatedAt }) => <Time at={updatedAt} isPlain />,
  },
};

/** Viewers do not see all data, so they cannot sort by it. */
export const contactColumns = (
  choice: readonly string[],
  maySortData: boolean,
): Column<Contact>[] => [
  EMAIL,
  ...choice.flatMap((column) => {
    const key = dataKeyOf(column);
    return key === null ? (FIXED[column] ?? []) : dataColumnOf(column, key, maySortData);
  }),
];

function dataColumnOf(column: string, key: string, isSorted: boolean): Column<Contact> {
  return {
    key: column,
    title: valueText(key),
    ...(isSorted ? { sortKey: `data.${key}` } : {}),
    render: ({ data }) => <Value value={data[key]} />,
  };
}

/** The direction of a text, such as one in Arabic, does not change the rest of its row. */
function Value({ value }: { value: unknown }) {
  const text = valueText(value);
  if (text === "") return <span className="muted">–</span>;
  return (
    <bdi className="contact-value" title={text}>
      {text}
    </bdi>
  );
}

/**
 * Says whether the contact is subscribed. Only one that was subscribed before can have unsubscribed;
 * most others were created by a transactional mail.
 */
export function Subscription(props: { contact: Contact; hasUnsubscribed?: boolean }) {
  const { contact, hasUnsubscribed = false } = props;
  if (contact.subscribed) return <Status value="SUBSCRIBED" />;
  return <Status value={hasUnsubscribed ? "UNSUBSCRIBED" : "NOT_SUBSCRIBED"} />;
}

/**
 * The two lines of a row on phones: the second has the first key of the data that is chosen, or the
 * whole name if the key is a part of it.
 */
export const contactLines = (choice: readonly string[]) => (contact: Contact) => {
  const key = choice.map(dataKeyOf).find((each) => each !== null);
  return {
    first: <bdi>{contact.email}</bdi>,
    second: (
      <span className="line">
        <Subscription contact={contact} />
        {key !== undefined && key !== null && (
          <bdi className="cut">{nameOrValue(contact.data, key)}</bdi>
        )}
      </span>
    ),
  };
};
