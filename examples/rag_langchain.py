"""A LangChain retriever with hybrid search: python rag_langchain.py reviews.csv "a question"."""

import sys

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

import deltavec as dv


def main(file: str, question: str) -> None:
    reviews = dv.build_collection(file, f"{file}.idx")

    def retrieve(query: str) -> list[Document]:
        found = reviews.search(query, k=3)
        return [Document(hit.text, id=hit.id, metadata={"score": hit.score}) for hit in found]

    for document in RunnableLambda(retrieve).invoke(question):  # the first step of a chain
        print(document.id, document.page_content[:70])


if __name__ == "__main__":
    main(*sys.argv[1:])
