-- create
create extension if not exists vector;
create table $table (
    row integer primary key, id text not null unique, text text, $columns
    words sparsevec($terms), dense $dense);
create table $postings (term integer not null, row integer not null, impact real not null);
comment on table $table is 'deltavec';

-- index
create index on $postings (term) include (row, impact);
analyze $table;
analyze $postings;

-- scan
select d.id, -(d.words <#> '$sparse'::sparsevec) - (d.dense <#> '$vector'::vector) as score, true as exact
from $table d
where $where
order by score desc, d.row
limit $k

-- postings
with lexical as (
    select row, sum(impact * weight) as score
    from $postings join (values $weights) as query (term, weight) using (term)
    group by row)
select d.id, coalesce(l.score, 0) - (d.dense <#> '$vector'::vector) as score, true as exact
from $table d $join lexical l using (row)
where $where
order by score desc, d.row
limit $k

-- candidates
with lexical as (
    select row, sum(impact * weight) as score
    from $postings join (values $weights) as query (term, weight) using (term)
    join $table d using (row)
    where $where
    group by row
    order by score desc, row
    limit $candidates),
best as (
    select d.id, d.row, l.score - (d.dense <#> '$vector'::vector) as score
    from lexical l join $table d using (row)
    order by score desc, d.row
    limit $k)
select id, score, count(*) over () = $k and min(score) over () > $most + (
    select case when count(*) < $candidates then 0 else min(score) end from lexical) as exact
from best
order by score desc, row
