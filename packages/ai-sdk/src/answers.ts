/** What a model answered, whole or streamed. */

import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from "@ai-sdk/provider";

/** The answer of a whole result; "" where tools are called first, or the model failed. */
export function answerOf(result: LanguageModelV4GenerateResult): string {
  const heard = new Answer();
  for (const part of result.content) {
    if (part.type === "text") heard.add(part.text);
    if (part.type === "tool-call" && !part.providerExecuted) heard.callsTool();
  }
  return heard.whole(result.finishReason.unified);
}

/** A stream that passes everything on, and tells of the answer before it says that it is done.
 *
 * What is broken off or given up has no end, and so no answer. */
export function listening(
  tell: (answer: string) => Promise<void>,
): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  const heard = new Answer();
  return new TransformStream({
    async transform(part, controller) {
      if (part.type === "text-start") heard.add("", part.id);
      if (part.type === "text-delta") heard.add(part.delta, part.id);
      if (part.type === "tool-call" && !part.providerExecuted) heard.callsTool();
      if (part.type === "error") heard.fails();
      if (part.type === "finish") await tell(heard.whole(part.finishReason.unified));
      controller.enqueue(part);
    },
  });
}

/** An answer as it comes in. */
class Answer {
  private readonly texts = new Map<string, string>();
  private isAnswer = true;

  add(text: string, id = `part ${this.texts.size}`): void {
    this.texts.set(id, (this.texts.get(id) ?? "") + text);
  }

  callsTool(): void {
    this.isAnswer = false;
  }

  fails(): void {
    this.isAnswer = false;
  }

  whole(finished: string): string {
    const isWhole = this.isAnswer && finished !== "error" && finished !== "tool-calls";
    return isWhole ? [...this.texts.values()].filter((text) => text).join("\n") : "";
  }
}
