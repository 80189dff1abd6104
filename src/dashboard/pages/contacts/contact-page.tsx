/** One contact: its timeline, subscription, data, segments and workflows. */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { getRouteApi, Link } from "@tanstack/react-router";
import { MailCheck } from "lucide-react";
import type { Contact } from "../../../modules/contacts/model.ts";
import { CopyText } from "../../ui/copy.tsx";
import { DeleteButton } from "../../ui/delete-button.tsx";
import { useDeletion } from "../../ui/deletion.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { BackLabel, Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { CheckAddress } from "./check-address.tsx";
import { Subscription } from "./columns.tsx";
import { ContactTimeline } from "./contact-timeline.tsx";
import { ConsentsCard } from "./consents-card.tsx";
import { PrivacyCard } from "./privacy-card.tsx";
import { DeliveryCard } from "./delivery-card.tsx";
import { DataCard } from "./data-card.tsx";
import { ExecutionsCard, SegmentsCard } from "./list-cards.tsx";
import { SubscriptionCard } from "./subscription-card.tsx";
import { TopicsCard } from "./topics-card.tsx";
import { contactKey, useContact, useSubscriptionChanges } from "./use-contact.ts";

const route = getRouteApi("/user/p/$project/contacts/$contact");

export function ContactPage() {
  const { project, contact: id } = route.useParams();
  const contact = useContact(id);
  const { data } = contact;
  return (
    <Page
      title={data?.email ?? "Contact"}
      badge={data && <SubscriptionBadge contact={data} />}
      back={
        <Link to="/p/$project/contacts" params={{ project }} className="page-back">
          <BackLabel>Contacts</BackLabel>
        </Link>
      }
      actions={
        data && (
          <>
            <CheckContact email={data.email} />
            <DeleteContact contact={data} project={project} />
          </>
        )
      }
      description={data && <Times contact={data} />}
    >
      <Loaded query={contact}>
        {(found) => (
          <div key={id} className="contact-grid">
            <DeliveryCard contact={found} project={project} />
            <div className="contact-side">
              <SubscriptionCard contact={found} />
              <TopicsCard contact={found} />
              <ConsentsCard contact={found} />
              <PrivacyCard contact={found} />
              <DataCard contact={found} />
              <SegmentsCard id={id} project={project} />
              <ExecutionsCard id={id} email={found.email} project={project} />
            </div>
            <section aria-labelledby="contact-activity">
              <h2 id="contact-activity">Timeline</h2>
              <ContactTimeline id={id} project={project} />
            </section>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function SubscriptionBadge({ contact }: { contact: Contact }) {
  const { data: changes } = useSubscriptionChanges(contact.id);
  // Nothing is shown until it is known, so that the word does not change.
  if (changes === undefined) return null;
  const hasUnsubscribed = changes.some(({ name }) => name === "contact.unsubscribed");
  return <Subscription contact={contact} hasUnsubscribed={hasUnsubscribed} />;
}

function Times({ contact: { id, createdAt, updatedAt } }: { contact: Contact }) {
  return (
    <span className="contact-times">
      <span>
        Created <Time at={createdAt} />
      </span>
      <span>
        Changed <Time at={updatedAt} />
      </span>
      <CopyText value={id} label="Copy the id" />
    </span>
  );
}

function CheckContact({ email }: { email: string }) {
  const [isChecking, checking] = useDisclosure(false);
  return (
    <>
      <Button
        variant="default"
        leftSection={<MailCheck size={15} aria-hidden />}
        onClick={checking.open}
      >
        Check the address
      </Button>
      <CheckAddress isOpen={isChecking} onClose={checking.close} email={email} />
    </>
  );
}

function DeleteContact({ contact, project }: { contact: Contact; project: string }) {
  const navigate = route.useNavigate();
  const remove = useDeletion({
    path: `/contacts/${contact.id}`,
    queryKey: contactKey(project, contact.id),
    listKey: ["contacts"],
    leave: () => navigate({ to: "/p/$project/contacts", params: { project } }),
  });
  return (
    <DeleteButton noun="contact" onDelete={remove}>
      <p>
        <strong className="contact-address">{contact.email}</strong> is removed from all segments;
        its workflows end, and mail that waits is not sent.
      </p>
      <p>
        Records of its mails and events stay without the person, so that figures stay right. This
        cannot be undone.
      </p>
    </DeleteButton>
  );
}
