import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Loaded } from "../../ui/loaded.tsx";
import { Timeline } from "../../ui/timeline.tsx";
import { useNow } from "../../ui/time.tsx";
import { type ActivityLine, daysOf } from "./timeline-days.ts";
import { useActivity } from "./use-contact.ts";

const number = new Intl.NumberFormat();

/** The events and mails of the contact, by day, newest first. */
export function ContactTimeline({ id, project }: { id: string; project: string }) {
  const now = useNow();
  const { activities, total, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useActivity(id);
  return (
    <Loaded query={{ data: activities, error, refetch }}>
      {(found) => (
        <>
          {found.length === 0 && (
            <p className="muted">Nothing happened yet: no mail was sent, no event was recorded.</p>
          )}
          {daysOf(found, now).map(({ day, label, lines }) => (
            <section key={day} className="contact-day">
              <h3>{label}</h3>
              <Timeline
                label={label}
                items={lines.map((line) => ({
                  key: line.key,
                  tone: line.tone,
                  at: line.at,
                  title: <bdi>{line.title}</bdi>,
                  detail: <Detail line={line} project={project} />,
                }))}
              />
            </section>
          ))}
          {hasNextPage && (
            <Button
              variant="default"
              size="xs"
              loading={isFetchingNextPage}
              onClick={() => void fetchNextPage()}
            >
              Show earlier ones ({number.format(total - found.length)})
            </Button>
          )}
        </>
      )}
    </Loaded>
  );
}

function Detail({ line, project }: { line: ActivityLine; project: string }) {
  const { detail, emailId } = line;
  if (emailId === null) return <bdi>{detail}</bdi>;
  return (
    <>
      <bdi>{detail}</bdi>{" "}
      <Link to="/p/$project/emails/$email" params={{ project, email: emailId }}>
        Open the mail
      </Link>
    </>
  );
}
