/** A sketch of a starter template: lines for texts, blocks for buttons. */

type Shape = { x?: number; y: number; width: number; height?: number; kind?: Kind };
type Kind = "text" | "strong" | "button" | "line";

const text = (y: number, width: number, x = 24): Shape => ({ x, y, width });
const strong = (y: number, width: number): Shape => ({ y, width, height: 7, kind: "strong" });
const button = (y: number): Shape => ({ y, width: 40, height: 11, kind: "button" });
const line = (y: number): Shape => ({ y, width: 112, height: 1, kind: "line" });

const row = (y: number): Shape[] => [text(y, 56), text(y, 18, 118), line(y + 9)];

const SHAPES: Readonly<Record<string, readonly Shape[]>> = {
  code: [text(26, 30), text(38, 78, 34), text(50, 62, 34), text(62, 84, 34), text(74, 26)],
  visual: [strong(22, 64), text(38, 112), text(48, 96), button(60), line(82), text(90, 60)],
  note: [text(24, 40), text(40, 112), text(50, 104), text(60, 74), text(78, 36)],
  welcome: [strong(22, 74), text(38, 112), text(48, 90), button(60), text(82, 70), text(92, 62)],
  receipt: [strong(20, 84), ...row(38), ...row(54), ...row(70), strong(88, 32)],
  newsletter: [
    strong(18, 60),
    ...[36, 62, 88].flatMap((y) => [{ ...strong(y, 46), height: 5 }, text(y + 10, 112)]),
  ],
  password: [strong(24, 90), text(40, 112), text(50, 80), button(62), text(86, 100)],
};

export function StarterPicture({ name }: { name: string }) {
  return (
    <svg viewBox="0 0 160 112" className="starter-picture" aria-hidden>
      <rect x="12" y="8" width="136" height="104" rx="6" className="starter-paper" />
      {(SHAPES[name] ?? []).map(({ x = 24, y, width, height = 4, kind = "text" }, i) => (
        <rect
          key={i}
          x={x}
          y={y}
          width={width}
          height={height}
          rx={kind === "line" ? 0 : Math.min(3, height / 2)}
          className={`sketch-${kind}`}
        />
      ))}
    </svg>
  );
}
