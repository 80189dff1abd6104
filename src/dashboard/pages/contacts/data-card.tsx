import { Button } from "@mantine/core";
import { useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import { useMay } from "../../state.ts";
import { DataEditor } from "./data-editor.tsx";
import { type ContactData, textOfValue, typeOfValue, valueText } from "./data-values.ts";

/** A longer text is cut until the user asks for the rest. */
const SHOWN_CHARACTERS = 300;

/** Lists and objects up to this length are shown in one line. */
const LINE_CHARACTERS = 60;

/** The data of the contact, and its editor. */
export function DataCard({ contact }: { contact: Contact }) {
  const [isEditing, setIsEditing] = useState(false);
  const mayEdit = useMay("EDITOR");
  const count = Object.keys(contact.data).length;
  return (
    <section className="card contact-card" aria-labelledby="contact-data">
      <div className="contact-card-head">
        <h2 id="contact-data">Data</h2>
        {mayEdit && !isEditing && (
          <Button size="compact-sm" variant="default" onClick={() => setIsEditing(true)}>
            Edit
          </Button>
        )}
      </div>
      {isEditing ? (
        <DataEditor contact={contact} onClose={() => setIsEditing(false)} />
      ) : count === 0 ? (
        <p className="muted small">No data is stored with this contact.</p>
      ) : (
        <DataList data={contact.data} />
      )}
    </section>
  );
}

function DataList({ data }: { data: ContactData }) {
  return (
    <dl className="contact-data">
      {Object.entries(data).map(([key, value]) => (
        <div key={key}>
          <dt>
            <bdi>{key === "" ? "(no name)" : valueText(key)}</bdi>
          </dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { value: unknown }) {
  const [isWhole, setIsWhole] = useState(false);
  const type = typeOfValue(value);
  const short = JSON.stringify(value);
  const isLine = type === "json" && short.length <= LINE_CHARACTERS;
  const text = type === "flag" ? valueText(value) : isLine ? short : textOfValue(value);
  if (text === "") return <span className="muted">Empty text</span>;
  const isLong = text.length > SHOWN_CHARACTERS;
  const shown = isLong && !isWhole ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
  return (
    <>
      {type === "json" ? <pre>{shown}</pre> : <bdi>{shown}</bdi>}
      {isLong && (
        <Button
          size="compact-xs"
          variant="subtle"
          className="contact-more"
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? "Show less" : "Show all of it"}
        </Button>
      )}
    </>
  );
}
