"""An edge has the scope of its two ends, and ends with either of them, whoever writes it.

The database fills the scope in and refuses ends of two workspaces or two users. The references are written
here, because only the database's own cascade also takes an edge that was made while its memory was deleted.
"""

import django.db.models.deletion
import django.db.models.functions.comparison
from django.db import migrations, models

SCOPE = """
CREATE FUNCTION memories_edge_scope() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT s.workspace_id, coalesce(s.user_id, t.user_id), coalesce(s.agent_id, t.agent_id)
    INTO NEW.workspace_id, NEW.user_id, NEW.agent_id
    FROM memories_memory s JOIN memories_memory t ON t.workspace_id = s.workspace_id
    WHERE s.id = NEW.source_id AND t.id = NEW.target_id AND (s.user_id = t.user_id) IS NOT FALSE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'an edge joins two memories of one workspace and at most one user'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'edge_scope';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER edge_scope BEFORE INSERT OR UPDATE OF source_id, target_id, workspace_id, user_id, agent_id ON memories_edge
    FOR EACH ROW EXECUTE FUNCTION memories_edge_scope();
UPDATE memories_edge SET source_id = source_id;
ALTER TABLE memories_edge
    ADD CONSTRAINT edge_source FOREIGN KEY (source_id) REFERENCES memories_memory (id) ON DELETE CASCADE,
    ADD CONSTRAINT edge_target FOREIGN KEY (target_id) REFERENCES memories_memory (id) ON DELETE CASCADE
"""
NO_SCOPE = """
ALTER TABLE memories_edge DROP CONSTRAINT edge_target, DROP CONSTRAINT edge_source;
DROP TRIGGER edge_scope ON memories_edge;
DROP FUNCTION memories_edge_scope()
"""


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0002_search'),
        ('policies', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='edge',
            name='agent_id',
            field=models.CharField(editable=False, max_length=253, null=True),
        ),
        migrations.AddField(
            model_name='edge',
            name='user_id',
            field=models.CharField(editable=False, max_length=253, null=True),
        ),
        migrations.AlterField(
            model_name='edge',
            name='source',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='edges_out', to='memories.memory'),
        ),
        migrations.AlterField(
            model_name='edge',
            name='target',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='edges_in', to='memories.memory'),
        ),
        migrations.AddIndex(
            model_name='edge',
            index=models.Index(models.F('source'), django.db.models.functions.comparison.Coalesce('user_id', models.Value('')), django.db.models.functions.comparison.Coalesce('agent_id', models.Value('')), models.F('weight'), models.F('id'), name='edge_out'),
        ),
        migrations.AddIndex(
            model_name='edge',
            index=models.Index(models.F('target'), django.db.models.functions.comparison.Coalesce('user_id', models.Value('')), django.db.models.functions.comparison.Coalesce('agent_id', models.Value('')), models.F('weight'), models.F('id'), name='edge_in'),
        ),
        migrations.RunSQL(SCOPE, NO_SCOPE),
    ]
