/** Tests the edited condition of a stored segment with the recorded events, in a dialog. */

import { Button, Skeleton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { History } from "lucide-react";
import type { Segment } from "../../../../modules/segments/model.ts";
import { lazyPart, Once } from "../../../lazy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";

const Backtest = lazyPart(
  async () => (await import("../backtest.tsx")).SegmentBacktestView,
  <Skeleton height={320} aria-busy="true" />,
);

type Props = { project: string; segment: Segment; condition: unknown };

export function BacktestButton({ project, segment, condition }: Props) {
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <>
      <Button
        className="builder-backtest"
        size="compact-sm"
        variant="default"
        leftSection={<History size={14} aria-hidden />}
        disabled={condition === null}
        onClick={dialog.open}
      >
        Who was in it before
      </Button>
      <Once isOn={isOpen}>
        <Dialog opened={isOpen} onClose={dialog.close} size="xl" title="Backtest">
          <Backtest
            project={project}
            segmentId={segment.id}
            condition={condition}
            isChanged={JSON.stringify(condition) !== JSON.stringify(segment.condition)}
          />
        </Dialog>
      </Once>
    </>
  );
}
