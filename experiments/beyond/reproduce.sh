#!/bin/sh
# Every figure of the README but the speed, in order; what was factorised or embedded before is read back.
#   reproduce.sh DATA CACHE [PEERS_PYTHON POTION_FOLDER MINILM_FOLDER]
# About an hour and a half on two quiet cores, most of it the factorisations of the reviews.
set -eu
data=$1 cache=$2
here=$(dirname "$0")
python=${PYTHON:-python}
forums="askubuntu meta_stackexchange english_stackexchange"
kinds="hotel restaurant attraction"
export OPENBLAS_NUM_THREADS=1

run() { script=$1; shift; "$python" "$here/$script.py" "$@" --cache "$cache"; }

run check "$data"
for corpus in $kinds; do
    run compare "$data" "$corpus" spectral alone guessed own-centre corpus-centre as-fitted tf-idf tf-idf2 lsa ppmi word2vec
done
for corpus in lee $forums newsgroups reviews; do
    run compare "$data" "$corpus" spectral alone guessed own-centre corpus-centre as-fitted tf-idf tf-idf2 lsa ppmi word2vec
    run adaptation "$data" "$corpus"
    run centres "$data" "$corpus"
    run lengths "$data" "$corpus"
done
for corpus in comp rec sci talk; do
    run compare "$data" "$corpus" spectral alone guessed
done
run saturation "$data" lee $forums newsgroups restaurant attraction sts reuters ohsumed
run adaptation "$data" newsgroups --fresh
for corpus in lee $forums newsgroups reviews; do
    run parameters "$data" "$corpus"
done
run transfer "$data" --own lee $forums newsgroups reviews hotel restaurant attraction
run transfer "$data"
run subwords "$data"
run strengths "$data" lee lee_others $forums attraction eng_Latn fin_Latn zho_Hans arb_Arab swh_Latn hin_Deva comp ohsumed reuters
run phrases "$data" lee $forums attraction comp eng_Latn sts
run smoothing "$data" attraction comp eng_Latn zho_Hans fin_Latn ohsumed reuters
run adapted "$data" lee english_stackexchange eng_Latn askubuntu
run adapted "$data" meta_stackexchange attraction restaurant ohsumed newsgroups --quick
"$python" "$here/few.py" "$data" attraction
if [ $# -ge 5 ]; then
    run peer_texts "$data"
    for corpus in lee questions newsgroups reviews; do
        for peer in potion minilm; do
            case $peer in potion) model=$4 texts=all ;; minilm) model=$5 texts=some ;; esac
            vectors=$cache/vectors/$peer-$corpus.npz
            [ -f "$vectors" ] ||
                "$3" "$here/peer_vectors.py" $peer "$model" "$cache/texts/$corpus-$texts.json" "$vectors"
        done
    done
    "$python" "$here/prior.py" "$data" "$4" lee $forums attraction restaurant
    for corpus in lee $forums newsgroups $kinds; do
        run compare "$data" "$corpus" potion
        run compare "$data" "$corpus" spectral tf-idf tf-idf2 potion minilm --small
    done
fi
for corpus in lee $forums newsgroups $kinds; do
    run compare "$data" "$corpus" doc2vec
done
"$python" "$here/report.py"
