/** The tags that replace tags of the library, to bound their work or to keep escaping right. */

import { CaptureTag, type Context, type Emitter, LiquidTag, Tag, TagToken, Value } from "liquidjs";
import { BoundedEmitter } from "./limits.ts";
import { Markup } from "./markup.ts";

/** Makes of a value the text or object that is written. */
export type Escape = (value: unknown) => unknown;

/** Refuses tags that load other files, when the template is parsed. */
export class FileTag extends Tag {
  constructor(...args: ConstructorParameters<typeof Tag>) {
    super(...args);
    throw new Error(`tag "${this.name}" is not available: a template cannot load other files`);
  }

  render(): void {}
}

/** `{% # comment %}`, checked in linear time: the library's own check is quadratic. */
export class LineCommentTag extends Tag {
  constructor(...[token, tokens, liquid]: ConstructorParameters<typeof Tag>) {
    super(token, tokens, liquid);
    const lines = token.args.split("\n").slice(1);
    const isComment = (line: string) => line === "" || line.startsWith("#");
    if (!lines.every((line) => isComment(line.trimStart()))) {
      throw new Error("every line of an inline comment must start with a '#' character");
    }
  }

  render(): void {}
}

/**
 * `{% liquid %}` with one tag on each line. A `liquid` tag inside of another one is refused: it
 * means the same as its lines, and a line of such tags would be read once for each of them.
 */
export class SingleLiquidTag extends LiquidTag {
  constructor(...args: ConstructorParameters<typeof LiquidTag>) {
    if (!(args[0] instanceof TagToken)) {
      throw new Error('tag "liquid" cannot stand inside of another liquid tag');
    }
    super(...args);
  }
}

/** Refuses a tag that a kind of template does not have, when the template is parsed. */
export class UnavailableTag extends Tag {
  constructor(...args: ConstructorParameters<typeof Tag>) {
    super(...args);
    throw new Error(`tag "${this.name}" is not available here`);
  }

  render(): void {}
}

/** Makes `{% echo x %}`, which escapes as `{{ x }}` does; the library's own tag does not always. */
export function echoTag(escape: Escape) {
  return class EchoTag extends Tag {
    readonly #value: Value;

    constructor(...[token, tokens, liquid]: ConstructorParameters<typeof Tag>) {
      super(token, tokens, liquid);
      this.#value = new Value(this.tokenizer.readFilteredValue(), liquid);
    }

    *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      const value = yield this.#value.value(context, false);
      const isRaw = this.#value.filters.at(-1)?.raw ?? false;
      emitter.write(isRaw ? value : escape(value));
    }
  };
}

/** `{% capture %}` with a bound on the length of its result. */
export class BoundedCaptureTag extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const emitter = new BoundedEmitter();
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter);
    context.memoryLimit.use(emitter.buffer.length);
    this.keep(context, emitter.buffer);
  }

  protected keep(context: Context, text: string): void {
    Object.assign(context.bottom(), { [this.variable]: text });
  }
}

/** The text that was captured has been escaped already. */
export class MarkupCaptureTag extends BoundedCaptureTag {
  protected override keep(context: Context, text: string): void {
    Object.assign(context.bottom(), { [this.variable]: new Markup(text) });
  }
}
