"""Words of closed classes: articles, pronouns, prepositions, conjunctions, auxiliaries, particles.

They name no topic. That most of them tell groups apart poorly is not enough: *she* and *her* tell a
group of portraits from its neighbours quite well. The classes are closed, so they can be listed; no
word of a field is among them, as there is in lists of stop words (*fire*, *bill*, *system*).

A list counts only where its language is written: *war* is a function word in German alone.
"""

from __future__ import annotations

from collections.abc import Mapping

# The least share of all (document, word) pairs that says a language is written, beyond those that
# lists found before it explain.
WRITTEN = 0.08
FEWEST = 5  # different ones; *sea* alone is not Spanish

LANGUAGES = {
    "english": """
        a an the this that these those such some any no none every each either neither both all few
        many much more most other others another one ones own same several
        i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
        himself she her hers herself it its itself they them their theirs themselves
        who whom whose which what whatever whoever whichever someone somebody something anyone
        anybody anything everyone everybody everything nobody nothing
        about above across after against along amid among around as at before behind below beneath
        beside besides between beyond by despite down during except for from in inside into like
        near of off on onto out outside over per since than through throughout till to toward
        towards under underneath until unto up upon via with within without
        and or nor but yet so if unless because although though while whereas whether when whenever
        where wherever how why
        am is are was were be been being have has had having do does did doing done will would shall
        should can could may might must ought cannot get gets got getting gotten let lets
        become becomes became becoming de
        don doesn didn isn aren wasn weren haven hasn hadn won wouldn shouldn couldn mustn needn ain
        dont doesnt didnt isnt arent wasnt wont cant couldnt wouldnt im ive id youre theyre thats
        ll ve re nt
        not only also too very just even still again ever never always often sometimes once twice
        then there here now thus hence therefore however moreover otherwise else instead rather
        quite almost already perhaps maybe indeed really actually anyway yes well etc
        """,
    "german": """
        der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner
        dieser diese dieses diesen diesem jener jene jenes jeder jede jedes jeden jedem alle allen
        aller alles beide beiden viele vielen vieler manche einige einigen einiger mehrere solche
        solcher welche welcher welches welchen andere anderen anderer anderem selbst selber
        ich mich mir mein meine meinen meinem meiner du dich dir dein deine er ihn ihm sein seine
        seinen seinem seiner seines sie ihr ihre ihren ihrem ihrer ihres es wir uns unser unsere
        euch euer sich man jemand niemand etwas nichts wer wen wem wessen was
        ab an am ans auf aus außer bei beim bis durch für gegen gegenüber hinter im in ins mit nach
        neben ohne pro seit statt trotz über um unter vom von vor während wegen zu zum zur zwischen
        und oder aber denn doch sondern sowie sowohl als wie wenn weil dass daß ob obwohl damit
        bevor nachdem falls indem sobald solange weder noch entweder je
        bin bist ist sind seid war waren wäre wären gewesen werde wird werden wurde wurden worden
        geworden würde würden habe hast hat haben hatte hatten hätte hätten gehabt kann können
        konnte konnten könnte könnten muss muß müssen musste mussten müsste soll sollen sollte
        sollten will wollen wollte wollten darf dürfen durfte mag mögen möchte
        nicht nur auch schon so sehr mehr dann da dort hier nun jetzt immer wieder bereits bisher
        etwa daher dabei dafür dagegen daran darauf daraus darin darüber darum davon dazu hin her
        allerdings jedoch zudem außerdem wo wohin woher wann warum wieso also ja nein eben erst
        """,
    "french": """
        le la les l un une des du de d au aux ce cet cette ces mon ma mes ton ta tes son sa ses
        notre nos votre vos leur leurs quel quelle quels quelles tout toute tous toutes aucun aucune
        chaque plusieurs quelque quelques autre autres même mêmes tel telle
        je j me m moi tu te t toi il elle lui se s soi nous vous ils elles eux on en y qui que qu
        quoi dont où celui celle ceux celles ceci cela ça c lequel laquelle lesquels rien personne
        à après avant avec chez contre dans depuis derrière dès devant durant entre envers hors
        jusque jusqu malgré par parmi pendant pour sans sauf selon sous sur vers
        et ou mais donc or ni car si comme lorsque lorsqu quand puisque puisqu parce afin ainsi
        suis es est sommes êtes sont étais était étions étaient été être étant fut furent sera
        seront serait seraient soit soient ai as a avons avez ont avais avait avaient eu ayant aura
        auront aurait auraient ait aient avoir peut peuvent pouvait pourrait pourraient pouvoir doit
        doivent devait devrait fait faire font faut
        ne n pas plus moins très aussi encore déjà toujours jamais souvent bien peu trop beaucoup
        alors puis ensuite enfin ici là non oui cependant toutefois comment pourquoi
        """,
    "spanish": """
        el la los las lo un una unos unas al del este esta esto estos estas ese esa eso esos esas
        aquel aquella aquellos aquellas mi mis tu tus su sus nuestro nuestra nuestros nuestras
        todo toda todos todas otro otra otros otras mismo misma mismos mismas cada algún alguna
        alguno algunos algunas ningún ninguna ninguno varios varias ambos cual cuales cualquier
        yo me mí tú te ti usted ustedes él ella ello ellos ellas le les se sí nos nosotros vosotros
        os que qué quien quién quienes cuyo cuya algo alguien nada nadie
        a ante bajo con contra de desde durante en entre hacia hasta para por según sin sobre tras
        y e o u ni pero sino aunque si porque pues como cómo cuando cuándo donde dónde mientras
        soy es somos son era eran fue fueron sido ser siendo será serán sería sea sean estoy está
        estamos están estaba estaban estado estar he ha hemos han había habían haber hay hubo habrá
        haya hayan puede pueden podía podría poder debe deben tiene tienen tenía tener hace hacer
        no más menos muy también tampoco ya aún todavía siempre nunca así entonces luego después
        antes ahora hoy aquí allí tan tanto mucho muchos muchas poco pocos sólo solo además
        """,
    "italian": """
        il lo la i gli le l un uno una del dello della dei degli delle al allo alla ai agli alle dal
        dallo dalla dai dagli dalle nel nello nella nei negli nelle sul sullo sulla sui sugli sulle
        questo questa questi queste quello quella quelli quelle quel mio mia miei mie tuo tua suo
        sua suoi sue nostro nostra nostri nostre loro ogni tutto tutta tutti tutte altro altra altri
        altre stesso stessa stessi qualche alcuni alcune nessuno nessuna molti molte
        io mi me tu ti te lui lei si sé noi ci ce vi ne essi che chi cui quale quali cosa qualcosa
        a con contro da di dentro dopo durante fino fra in per presso prima senza sopra sotto su tra
        verso e ed o oppure ma però anche se perché poiché come quando dove mentre né
        sono sei è siamo siete era erano fu furono stato stata stati state essere sarà saranno
        sarebbe sia siano ho hai ha abbiamo hanno aveva avevano avuto avere avrà abbia può possono
        poteva potrebbe potere deve devono dovrebbe fa fare
        non più meno molto già ancora sempre mai così poi ora qui lì solo quindi inoltre
        """,
    "portuguese": """
        o a os as um uma uns umas do da dos das no na nos nas ao à aos às pelo pela pelos pelas num
        numa este esta estes estas esse essa esses essas isto isso aquele aquela aquilo meu minha
        meus minhas seu sua seus suas nosso nossa nossos nossas todo toda todos todas outro outra
        outros outras mesmo mesma cada algum alguma alguns algumas nenhum nenhuma vários várias
        eu me mim tu te você vocês ele ela eles elas lhe lhes se si nós que quem qual quais cujo
        algo alguém nada ninguém
        ante após até com contra de desde durante em entre para perante por sem sob sobre
        e ou mas nem porém se porque pois como quando onde enquanto embora
        sou é somos são era eram foi foram sido ser será serão seria seja sejam estou está estão
        estava estavam estar tenho tem temos têm tinha tinham ter teve há havia haver pode podem
        podia poderia poder deve devem faz fazer vai vão
        não mais menos muito muitos também já ainda sempre nunca assim então depois antes agora aqui
        ali tão só apenas além
        """,
    "dutch": """
        de het een deze dit die dat dezelfde elk elke ieder iedere alle allen alles andere beide
        enkele sommige vele veel meer meest geen zulke
        ik me mij mijn je jij jou jouw u uw hij hem zijn zij ze haar het wij we ons onze jullie hen
        hun zich zichzelf men iemand niemand iets niets wie wat welke wiens
        aan achter als behalve bij binnen boven buiten door in langs met na naar naast om onder op
        over per rond sinds te tegen ten ter tot tussen uit van vanaf vanwege via volgens voor
        voorbij zonder
        en of maar want dus noch toen toch omdat doordat hoewel terwijl wanneer indien zodat
        ben bent is was waren geweest wezen word wordt worden werd werden geworden heb hebt heeft
        hebben had hadden gehad kan kunnen kon konden moet moeten moest moesten mag mogen zal
        zullen zou zouden wil willen wilde gaat gaan
        niet ook nog al wel zo zeer heel dan daar er hier nu weer altijd nooit vaak reeds ervan
        hoe waar waarom waarin echter bovendien
        """,
}
FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in LANGUAGES.items()
}


def function_words(held: Mapping[str, int]) -> frozenset[str]:
    """The function words of the languages that documents are written in.

    Parameters
    ----------
    held
        How many documents hold each word.
    """
    total = sum(held.values())
    known: frozenset[str] = frozenset()
    while True:
        # What a list has beyond those before it: languages share short words.
        more = [words - known for words in FUNCTION_WORDS.values()]
        often = [[held[word] for word in words if held.get(word)] for words in more]
        shares = [sum(counts) if len(counts) >= FEWEST else 0 for counts in often]
        best = max(shares)
        if best <= WRITTEN * total:
            return known
        known |= more[shares.index(best)]
