import type { PodFacts } from "../../../model/node.ts";
import type { ListRequest } from "../list-objects.ts";

/** The same request for pods whose facts share the texts that repeat: tens of thousands of pods have few namespaces, nodes and phases. */
export function smallPods(request: ListRequest<PodFacts>): ListRequest<PodFacts> {
  const texts = new Map<string, string>();
  const shared = (text: string): string => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, text);
    return text;
  };
  return {
    ...request,
    project: (item) => {
      const pod = request.project(item);
      if (pod === undefined) return undefined;
      return { ...pod, namespace: shared(pod.namespace), nodeName: shared(pod.nodeName), phase: shared(pod.phase) };
    },
  };
}
